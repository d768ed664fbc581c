// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>
#include <tuple>

namespace sinter::inline SINTER_TARGET {

/// The programs of one model, for one device: what a session runs. Of training there is one, or one
/// for each loss of several, which all find parameters, states and slots at the same places. To
/// name them compiles nothing yet.
template <class Device, class Evaluation, class Prediction, class... Training>
struct model_programs {
    using device = Device;
    using evaluation = Evaluation;
    using prediction = Prediction;
    static constexpr int n_training = sizeof...(Training);
    template <int I>
    using training = std::tuple_element_t<std::size_t{I}, std::tuple<Training...>>;
};

namespace strategy_parts {
/// What a program is asked for by, without a look into it, which would compile it.
template <class P>
struct request_of;
template <class R>
struct request_of<compiled<R>> {
    using type = R;
};
} // namespace strategy_parts

} // namespace sinter
