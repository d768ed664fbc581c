// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/program/optimizer_code.hpp>

namespace sinter::detail {

/// What stands for an optimizer where none was given: to be told so, and nothing else.
template <class Loss>
struct optimizer_missing {
    static_assert(sizeof(Loss) == 0, "estimator: behind the loss an optimizer is needed: estimator model{net, loss, adam{}}");
    static constexpr int slots = 0, n_scalars = 0;
    static constexpr void update(update_context& u) { u.set_parameter(u.parameter()); }
    void scalars(std::int64_t, float*) const {}
};

} // namespace sinter::detail
