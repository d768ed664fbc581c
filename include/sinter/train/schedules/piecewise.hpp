// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/schedules/schedule.hpp>
#include <initializer_list>
#include <string>

namespace sinter::inline SINTER_TARGET {

namespace detail {
inline float piecewise_rate(const schedule& s, std::int64_t step) {
    float r = s.peak;
    for (int i = 0; i < s.pieces && step >= s.from[i]; ++i) r = s.rate[i];
    return r;
}
} // namespace detail

/// From step `from` on the rate is `rate`.
struct piece {
    std::int64_t from;
    float rate;
};
/// Constant pieces: `piecewise(0.1f, {{1000, 0.01f}, {2000, 0.001f}})`, a new rate from exactly
/// that step on (as PyTorch's MultiStepLR; Keras' PiecewiseConstantDecay changes one step later).
/// At most schedule::most_pieces changes, in rising order: option_error, or no constant.
constexpr schedule piecewise(float first, std::initializer_list<piece> changes) {
    schedule s(first);
    s.at_step = &detail::piecewise_rate;
    for (const piece& p : changes) {
        if (s.pieces == schedule::most_pieces)
            throw option_error("too many pieces", "piecewise", std::to_string(changes.size()),
                               std::to_string(schedule::most_pieces) + " at most");
        if (p.from < 0) throw option_error("first step of a piece", "piecewise", std::to_string(p.from), "0 or more");
        detail::need_later_rate(p.rate, "piecewise");
        if (s.pieces && p.from <= s.from[s.pieces - 1])
            throw option_error("pieces out of order", "piecewise", std::to_string(p.from),
                               "a later step than the one before");
        s.from[s.pieces] = p.from;
        s.rate[s.pieces++] = p.rate;
    }
    return s;
}

} // namespace sinter
