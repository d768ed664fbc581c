// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/matmul.hpp>

#include "support/check_op.hpp"

namespace sinter::test {

/// Any axes in front, broadcast; `ta`, `tb`: swap the last two axes first.
inline doubles product(const doubles& a, const doubles& b, bool ta, bool tb) {
    auto extent = [](const doubles& x, int from_end) { return x.d[x.d.size() - static_cast<std::size_t>(from_end)]; };
    const int m = extent(a, ta ? 1 : 2), k = extent(a, ta ? 2 : 1), n = extent(b, tb ? 2 : 1);
    auto in_front = [](const doubles& x) { return doubles(std::vector<int>(x.d.begin(), x.d.end() - 2)); };
    const doubles lead = map(in_front(a), in_front(b), [](double, double) { return 0.; });
    doubles y([&] { auto d = lead.d; d.push_back(m); d.push_back(n); return d; }());
    auto matrix = [&](const doubles& x, const std::vector<int>& at) {   // which of x's matrices belongs to this place
        const std::size_t own = x.d.size() - 2;
        int number = 0;
        for (std::size_t q = 0; q < own; ++q) number = number * x.d[q] + (x.d[q] == 1 ? 0 : at[at.size() - own + q]);
        return number;
    };
    for (int l = 0; l < lead.size(); ++l) {
        const auto at = lead.where(l);
        const int of_a = matrix(a, at) * m * k, of_b = matrix(b, at) * k * n;
        for (int q = 0; q < m * n; ++q) {
            const int i = q / n, j = q % n;
            for (int t = 0; t < k; ++t)
                y[l * m * n + q] += a[of_a + (ta ? t * m + i : i * k + t)] * b[of_b + (tb ? j * k + t : t * n + j)];
        }
    }
    return y;
}
template <shape A, shape B, bool TA = false, bool TB = false>
struct product_of {
    static constexpr shape operands[] = {A, B};
    static constexpr tensor apply(tensor a, tensor b) {
        return matmul(a, b, TA ? transposed::yes : transposed::no, TB ? transposed::yes : transposed::no);
    }
    static doubles reference(const doubles& a, const doubles& b) {
        doubles x = a;   // a vector an example is a row
        const bool vector = A.rank == 1;
        if (vector) x.d.insert(x.d.end() - 1, 1);
        doubles y = product(x, b, TA, TB);
        if (vector) y.d.erase(y.d.end() - 2);
        return y;
    }
};
} // namespace sinter::test
