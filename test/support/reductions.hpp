// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max.hpp>

#include "support/check_op.hpp"

namespace sinter::test {

enum class reduce_by { sum, mean, max };

/// A reduction over any axes, the batch's too.
template <reduce_by By, keep Keep, shape A, int... Axes>
struct over_axes {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) {
        if constexpr (By == reduce_by::sum) return sum(a, {Axes...}, Keep);
        else if constexpr (By == reduce_by::mean) return mean(a, {Axes...}, Keep);
        else return max(a, {Axes...}, Keep);
    }
    static doubles reference(const doubles& a) {
        std::vector<bool> gone(a.d.size());
        for (int x : {Axes...})
            gone[static_cast<std::size_t>(x == batch_axis ? 0 : (x < 0 ? x + A.rank : x) + A.batched)] = true;
        std::vector<int> kept = a.d, left;
        double elements = 1;
        for (std::size_t i = 0; i < gone.size(); ++i) {
            if (gone[i]) elements *= a.d[i], kept[i] = 1;
            if (!gone[i] || (Keep == keep::yes && !(A.batched && i == 0))) left.push_back(kept[i]);
        }
        doubles y(kept, By == reduce_by::max ? -INFINITY : 0.);
        for (int n = 0; n < a.size(); ++n) {
            auto at = a.where(n);
            for (std::size_t i = 0; i < gone.size(); ++i)
                if (gone[i]) at[i] = 0;
            double& to = y.at(at);
            if (By == reduce_by::max) to = std::max(to, a[n]);
            else to += By == reduce_by::mean ? a[n] / elements : a[n];
        }
        y.d = left;
        return y;
    }
};

/// Any function of the elements over axes: F::apply(tensor, axes, keep) and F::value(their values, in order).
template <class F, keep Keep, shape A, int... Axes>
struct reduced {
    static constexpr shape operands[] = {A};
    static constexpr double low = low_of<F>(), high = high_of<F>();
    static constexpr tensor apply(tensor a) { return F::apply(a, {Axes...}, Keep); }
    static doubles reference(const doubles& a) {
        std::vector<bool> gone(a.d.size());
        for (int x : {Axes...})
            gone[static_cast<std::size_t>(x == batch_axis ? 0 : (x < 0 ? x + A.rank : x) + A.batched)] = true;
        std::vector<int> kept = a.d, left;
        for (std::size_t i = 0; i < gone.size(); ++i) {
            if (gone[i]) kept[i] = 1;
            if (!gone[i] || (Keep == keep::yes && !(A.batched && i == 0))) left.push_back(kept[i]);
        }
        doubles y(kept);
        std::vector<std::vector<double>> of(y.v.size());
        for (int n = 0; n < a.size(); ++n) {
            auto at = a.where(n);
            for (std::size_t i = 0; i < gone.size(); ++i)
                if (gone[i]) at[i] = 0;
            of[y.place(at)].push_back(a[n]);
        }
        for (std::size_t i = 0; i < of.size(); ++i) y.v[i] = F::value(of[i]);
        y.d = left;
        return y;
    }
};

} // namespace sinter::test
