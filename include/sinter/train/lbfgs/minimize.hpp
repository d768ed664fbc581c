// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/train/lbfgs/line_search.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

/// L-BFGS (Liu and Nocedal 1989) of a function of floats; sums are in doubles.
namespace sinter::inline SINTER_TARGET {

struct lbfgs {
    int history = 10;                  ///< pairs of steps and gradients' changes that are kept
    int max_iterations = 100;
    double gradient_tolerance = 1e-5;  ///< ends where no element of the gradient is larger; negative: never by that
    double loss_tolerance = 1e-9;      ///< ends where an iteration gains no more than this share of max(|loss|, 1);
                                       ///< negative: never by that
    double l2 = 0;                     ///< l2 / 2 times the sum of all squared parameters is added to the loss
    line_search_options search{};
};

/// Why a minimisation has ended.
enum class lbfgs_end {
    small_gradient,   ///< a minimum, as exactly as was asked for
    small_gain,       ///< the loss has stopped falling
    iterations,       ///< as many as were allowed
    no_step           ///< not even along the gradient does the loss fall: floats are no more exact than that
};
/// Where a minimisation has ended.
struct lbfgs_result {
    double loss = 0, gradient = 0;     ///< with the penalty; the gradient's largest element
    int iterations = 0, evaluations = 0;
    lbfgs_end end = lbfgs_end::iterations;
};

/// What is remembered from one iteration to the next, oldest first: a run goes on where it ended if
/// this is kept.
struct lbfgs_history {
    std::vector<std::vector<float>> steps, changes;

    void clear() {
        steps.clear();
        changes.clear();
    }
};

namespace detail {

inline double dot(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
}
inline double largest(const std::vector<float>& a) {
    float most = 0;
    for (float e : a) most = std::abs(e) > most || std::isnan(e) ? std::abs(e) : most;
    return static_cast<double>(most);
}
/// -H g: the inverse Hessian that the history implies, by the two loops of Nocedal 1980.
inline std::vector<float> descent(const lbfgs_history& h, const std::vector<float>& g) {
    std::vector<double> d(g.begin(), g.end()), along(h.steps.size());
    const auto add = [&](double factor, const std::vector<float>& v) {
        for (std::size_t i = 0; i < d.size(); ++i) d[i] += factor * static_cast<double>(v[i]);
    };
    const auto with = [&](const std::vector<float>& v) {
        double sum = 0;
        for (std::size_t i = 0; i < d.size(); ++i) sum += d[i] * static_cast<double>(v[i]);
        return sum;
    };
    for (std::size_t k = h.steps.size(); k-- > 0;) {
        along[k] = with(h.steps[k]) / dot(h.steps[k], h.changes[k]);
        add(-along[k], h.changes[k]);
    }
    if (!h.steps.empty()) {
        const double scale = dot(h.steps.back(), h.changes.back()) / dot(h.changes.back(), h.changes.back());
        for (double& e : d) e *= scale;
    }
    for (std::size_t k = 0; k < h.steps.size(); ++k)
        add(along[k] - with(h.changes[k]) / dot(h.steps[k], h.changes[k]), h.steps[k]);
    std::vector<float> way(d.size());
    for (std::size_t i = 0; i < d.size(); ++i) way[i] = static_cast<float>(-d[i]);
    return way;
}

} // namespace detail

/// Goes from x to a minimum of `f(x, gradient)`, which returns the value and fills the gradient. x
/// ends at the best point. data_error where the value is not finite at the first x, option_error
/// where an option makes no sense.
template <class Function>
lbfgs_result minimize(Function&& f, std::vector<float>& x, const lbfgs& o, lbfgs_history& h) {
    if (o.history < 1) throw option_error("length of the history", "lbfgs", std::to_string(o.history), "1 or more");
    if (o.max_iterations < 0)
        throw option_error("number of iterations", "lbfgs", std::to_string(o.max_iterations), "0 or more");
    for (const double given : {o.gradient_tolerance, o.loss_tolerance})
        if (!(given <= std::numeric_limits<double>::max()))
            throw option_error("a tolerance", "lbfgs", base::number_text(given),
                               "a finite number; a negative one ends nothing");
    if (!(o.l2 >= 0 && std::isfinite(o.l2)))
        throw option_error("l2", "lbfgs", base::number_text(o.l2), "0 or more, and finite");
    lbfgs_result r;
    std::vector<float> g(x.size()), trial(x.size()), trial_gradient(x.size());
    const auto value = [&](const std::vector<float>& at, std::vector<float>& gradient) {
        ++r.evaluations;
        double v = f(at, gradient);
        if (o.l2 == 0) return v;
        v += o.l2 / 2 * detail::dot(at, at);
        for (std::size_t i = 0; i < at.size(); ++i) gradient[i] += static_cast<float>(o.l2) * at[i];
        return v;
    };
    r.loss = value(x, g);
    if (!std::isfinite(r.loss))
        throw data_error("the loss is not finite", "lbfgs", base::number_text(r.loss), "a finite loss");
    while (true) {
        r.gradient = detail::largest(g);
        if (r.gradient <= o.gradient_tolerance) return r.end = lbfgs_end::small_gradient, r;
        if (r.iterations == o.max_iterations) return r.end = lbfgs_end::iterations, r;
        std::vector<float> way = detail::descent(h, g);
        if (!(detail::dot(way, g) < 0)) {
            h.clear();
            way = detail::descent(h, g);
        }
        const auto move = [&](double step) {
            for (std::size_t i = 0; i < x.size(); ++i)
                trial[i] = static_cast<float>(static_cast<double>(x[i]) + step * static_cast<double>(way[i]));
        };
        auto along = [&](double step) {
            move(step);
            const double v = value(trial, trial_gradient);
            return line_point{step, v, detail::dot(trial_gradient, way)};
        };
        double first = 1;
        if (h.steps.empty()) {   // nothing is known of lengths yet
            double sum = 0;
            for (float e : g) sum += std::abs(static_cast<double>(e));
            first = std::min(1., 1 / sum);
        }
        line_point found;
        const bool good = line_search(along, {0, r.loss, detail::dot(g, way)}, o.search).run(first, found);
        if (found.step == 0) {
            if (h.steps.empty()) return r.end = lbfgs_end::no_step, r;
            h.clear();   // perhaps the history has misled
            continue;
        }
        if (!good) found.value = along(found.step).value;   // the last point that was looked at need not be the best
        ++r.iterations;
        std::vector<float> step(x.size()), change(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) step[i] = trial[i] - x[i], change[i] = trial_gradient[i] - g[i];
        if (detail::dot(step, change) > 1e-10 * detail::dot(change, change)) {   // else H would not be positive
            while (static_cast<int>(h.steps.size()) >= o.history) {
                h.steps.erase(h.steps.begin());
                h.changes.erase(h.changes.begin());
            }
            h.steps.reserve(h.steps.size() + 1);   // both or neither: a step without its change would be followed
            h.changes.reserve(h.changes.size() + 1);
            h.steps.push_back(std::move(step));
            h.changes.push_back(std::move(change));
        }
        const double gain = r.loss - found.value;
        x.swap(trial);
        g.swap(trial_gradient);
        r.loss = found.value;
        if (gain <= o.loss_tolerance * std::max(std::abs(r.loss), 1.)) {
            r.gradient = detail::largest(g);
            return r.end = r.gradient <= o.gradient_tolerance ? lbfgs_end::small_gradient : lbfgs_end::small_gain, r;
        }
    }
}

} // namespace sinter
