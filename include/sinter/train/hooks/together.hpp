// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/estimator/estimator.hpp>

namespace sinter::inline SINTER_TARGET {

/// Several hooks as train_options::after_epoch: each is asked after each epoch, in this order, and
/// training stops if one of them answers false. They are not copied, so that what they have found
/// can be read afterwards: they must outlive train().
template <class... Hook>
auto together(Hook&... hooks) {
    return [&hooks...](const epoch_result& r) {
        bool more = true;
        ((more = hooks(r) && more), ...);
        return more;
    };
}

} // namespace sinter
