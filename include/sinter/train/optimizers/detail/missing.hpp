// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/optimizers/none.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// What stands for an optimizer where none was given: to be told so, and nothing else.
template <class Loss>
struct optimizer_missing : no_optimizer {
    static_assert(sizeof(Loss) == 0,
                  "estimator: an optimizer is missing after the loss: estimator model{net, loss, adam{}}");
};

/// What stands for an optimizer that lacks a part: the same.
template <class Given>
struct optimizer_incomplete : no_optimizer {
    optimizer_incomplete(const Given&) {}
    static_assert(
        sizeof(Given) == 0,
        "estimator: what follows the loss is no optimizer. One has static constexpr int slots and n_scalars, static "
        "constexpr void update(update_context&), and void scalars(std::int64_t step, float* out) const");
};

template <class O>
concept complete_optimizer = requires(const O& o, update_context& u, float* out) {
    O::slots + O::n_scalars;
    O::update(u);
    o.scalars(std::int64_t{}, out);
};
template <class O>
using optimizer_or_fault = std::conditional_t<complete_optimizer<O>, O, optimizer_incomplete<O>>;

} // namespace sinter::detail
