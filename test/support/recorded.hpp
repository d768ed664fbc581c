// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "fixtures/array_ops.hpp"
#include "support/elementwise.hpp"

/// What an op gives for the recorded operands of NumPy and PyTorch.
namespace sinter::test {

template <int N>
doubles recorded(std::vector<int> d, const double (&x)[N]) {
    const auto n = static_cast<std::ptrdiff_t>(doubles::count(d));
    return doubles(std::move(d), std::vector<double>(x, x + n));
}
template <class T, int N>
std::vector<double> recorded(const T (&x)[N]) {
    return std::vector<double>(x, x + N);
}
/// Within float32's reach; infinities and NaN exactly.
template <class T, int N>
void check_recorded(const std::vector<float>& got, const T (&want)[N], double tolerance = 1e-5) {
    for (std::size_t i = 0; i < N; ++i) {
        const double x = static_cast<double>(got.at(i)), y = static_cast<double>(want[i]);
        const bool same = std::isfinite(y) ? std::abs(x - y) <= tolerance * (1 + std::abs(y))
            : x == y || (std::isnan(x) && std::isnan(y));
        BOOST_TEST(same, "element " << i << " is " << x << ", not " << y);
    }
}

} // namespace sinter::test
