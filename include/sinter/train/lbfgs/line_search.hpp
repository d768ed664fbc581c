// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cmath>

/// A step along a line that satisfies the strong Wolfe conditions (Nocedal and Wright 2006,
/// algorithms 3.5 and 3.6).
namespace sinter::inline SINTER_TARGET {

struct line_point {
    double step = 0, value = 0, slope = 0;
};
/// The constants of the Wolfe conditions, and how often the function may be asked.
struct line_search_options {
    double decrease = 1e-4, curvature = 0.9;   ///< c1 and c2
    int evaluations = 25;
    /// Values that differ by less than this share of themselves tell nothing. There the slope alone
    /// decides (the approximate Wolfe conditions of Hager and Zhang 2005), which can be computed
    /// more exactly near a minimum.
    double noise = 1e-6;
};

template <class Function>
class line_search {
public:
    /// `f(step)` gives a line_point. `start`: of step 0, its slope below 0.
    line_search(Function& f, const line_point& start, const line_search_options& o) : f_(f), start_(start), o_(o) {}

    /// The first step to try; true if `found` satisfies both conditions. Otherwise it is the best
    /// point that was met where the value has fallen at all, or step 0.
    bool run(double first, line_point& found) {
        line_point before = start_;
        found = start_;
        for (double step = first; left();) {
            const line_point p = at(step);
            if (!fallen(p) || (before.step > 0 && p.value >= before.value)) return zoom(before, p, found);
            if (flat(p)) return found = p, true;
            if (p.slope >= 0) return zoom(p, before, found);
            found = before = p;
            step *= 2.5;
        }
        return false;
    }

private:
    Function& f_;
    line_point start_;
    line_search_options o_;
    int used_ = 0;

    bool left() const { return used_ < o_.evaluations; }
    line_point at(double step) {
        ++used_;
        return f_(step);
    }
    bool fallen(const line_point& p) const {
        if (!std::isfinite(p.value) || !std::isfinite(p.slope)) return false;
        if (p.value <= start_.value + o_.decrease * p.step * start_.slope) return true;
        return std::abs(p.value - start_.value) <= o_.noise * std::abs(start_.value) && p.slope <= -0.8 * start_.slope;
    }
    bool flat(const line_point& p) const { return std::abs(p.slope) <= -o_.curvature * start_.slope; }

    /// The minimum lies between `low`, where the value has fallen, and `high`.
    bool zoom(line_point low, line_point high, line_point& found) {
        while (left() && std::abs(high.step - low.step) > 1e-12 * std::abs(high.step + low.step)) {
            const line_point p = at(between(low, high));
            if (!fallen(p) || p.value > low.value) {
                high = p;
                continue;
            }
            if (flat(p)) return found = p, true;
            if (p.slope * (high.step - low.step) >= 0) high = low;
            low = p;
        }
        found = low;
        return false;
    }
    /// The minimum of the cubic through both points, kept away from both ends; the middle where
    /// there is none.
    static double between(const line_point& a, const line_point& b) {
        const double width = b.step - a.step;
        const double d = a.slope + b.slope - 3 * (b.value - a.value) / width, inside = d * d - a.slope * b.slope;
        if (!(inside >= 0)) return a.step + width / 2;
        const double root = std::copysign(std::sqrt(inside), width);
        const double x = 1 - (b.slope + root - d) / (b.slope - a.slope + 2 * root);
        return a.step + width * (x >= 0.1 && x <= 0.9 ? x : std::isfinite(x) ? (x < 0.5 ? 0.1 : 0.9) : 0.5);
    }
};

} // namespace sinter
