// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/optimizers/none.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// What stands for an optimizer where none was given: to be told so, and nothing else.
template <class Loss>
struct optimizer_missing : no_optimizer {
    static_assert(sizeof(Loss) == 0, "estimator: behind the loss an optimizer is needed: estimator model{net, loss, adam{}}");
};

} // namespace sinter::detail
