// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/number_text.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/compiler/schedules_of.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// Calls f with each learning rate that an optimizer has at a step, and whether it is divided by: its
/// own, that of what it wraps, those of its groups.
template <class O, class F>
void each_learning_rate(const O& o, std::int64_t step, F f) {
    if constexpr (requires { o.learning_rate.at(step); })
        f(o.learning_rate.at(step), requires { O::divides_by_rate; });
    if constexpr (requires { O::batches; o.optimizer; }) each_learning_rate(o.optimizer, step / O::batches, f);
    else if constexpr (requires { o.optimizer; }) each_learning_rate(o.optimizer, step, f);
    if constexpr (requires { o.others; o.members; }) {
        each_learning_rate(o.others, step, f);
        std::apply([&](const auto&... g) { (each_learning_rate(g, step, f), ...); }, o.members);
    }
}
/// What hooks change of them: the rates that schedules have at their height, or always.
template <class O>
SINTER_COLD std::vector<float> rates_of(O& o) {
    std::vector<float> rates;
    compiler::each_schedule(o, [&](auto& s) { rates.push_back(s.peak); });
    return rates;
}
/// The same rates again; nothing where these are of another optimizer.
template <class O>
SINTER_COLD void set_rates(O& o, const std::vector<float>& rates) {
    if (rates_of(o).size() != rates.size()) return;
    std::size_t next = 0;
    compiler::each_schedule(o, [&](auto& s) { s.peak = rates[next++]; });
}
/// option_error unless all of them are finite and not negative: a rate below zero climbs, NaN or
/// infinity ends in weights that are that, and so does a division by 0.
template <class O>
void need_learning_rates(const O& o, std::int64_t step) {
    each_learning_rate(o, step, [&](float rate, bool divides) {
        if ((rate > 0 || (rate == 0 && !divides)) && rate <= std::numeric_limits<float>::max()) return;
        [&]() SINTER_COLD {
            throw option_error("learning rate", to_text({"train, step ", step + 1}), base::number_text(rate),
                               divides ? "more than 0, and finite" : "0 or more, and finite");
        }();
    });
}

/// The same of the phase I of an optimizer whose phases count steps of their own.
template <int I, class O>
void need_learning_rates_of_phase(const O& o, std::int64_t step) {
    if constexpr (requires { o.members; }) need_learning_rates(std::get<I>(o.members), step);
    else need_learning_rates_of_phase<I>(o.optimizer, step);
}

} // namespace sinter::detail
