// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/compiler/schedules_of.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Learning rates that hooks change while servers have the optimizer: servers keep them as they were at first and are
/// sent one factor with each push.
class followed_rates {
public:
    /// option_error where several rates have changed by other factors, which servers cannot be sent.
    template <class Optimizer>
    void follow(const Optimizer& o) {
        constexpr int n = compiler::count_schedules<Optimizer>();
        if constexpr (n > 0) {
            if (first_.empty()) compiler::each_schedule(o, [&](const auto& s) { first_.push_back(s.peak); });
            int i = 0;
            bool any = false;
            compiler::each_schedule(o, [&](const auto& s) {
                const float first = first_[static_cast<std::size_t>(i++)];
                if (first == 0) return;
                const float now = s.peak / first;
                if (!any) factor_ = now;
                else if (!(__builtin_fabsf(now - factor_) <= 1e-5f * __builtin_fabsf(factor_))) refuse(now, factor_);
                any = true;
            });
        }
    }
    float factor() const { return factor_; }

private:
    std::vector<float> first_;
    float factor_ = 1;

    [[noreturn]] SINTER_COLD static void refuse(float now, float other) {
        throw option_error("learning rates have changed by other factors", "parameter_server",
                           base::number_text(now) + " and " + base::number_text(other),
                           "one factor for all groups of parameters: servers have the optimizer");
    }
};

} // namespace sinter::strategy_parts
