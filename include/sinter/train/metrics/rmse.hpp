// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/metrics/mse.hpp>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Root of the mean squared error over all numbers (Keras' RootMeanSquaredError).
class rmse : public mse {
public:
    static constexpr const char* name = "rmse";
    double value() const { return __builtin_sqrt(mse::value()); }   ///< NaN as long as nothing was added
};

} // namespace sinter::metrics
