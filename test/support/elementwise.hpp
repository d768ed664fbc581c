// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/known.hpp>

#include "support/check_op.hpp"

/// Elementwise ops: F::apply(tensor...) is the op, F::value(double...) what it should be; F::low and F::high, if there,
/// bound what it is tried on.
namespace sinter::test {

template <class F, shape A>
struct unary_case {
    static constexpr shape operands[] = {A};
    static constexpr double low = low_of<F>(), high = high_of<F>();
    static constexpr tensor apply(tensor a) { return F::apply(a); }
    static doubles reference(const doubles& a) { return map(a, F::value); }
};
template <class F, shape A, shape B>
struct binary_case {
    static constexpr shape operands[] = {A, B};
    static constexpr double low = low_of<F>(), high = high_of<F>();
    static constexpr tensor apply(tensor a, tensor b) { return F::apply(a, b); }
    static doubles reference(const doubles& a, const doubles& b) { return map(a, b, F::value); }
};

template <class F>
void check_unary(const tolerance& t = {}) {
    check_op<unary_case<F, drawn_batch(0, 2)>>(t);
    check_op<unary_case<F, drawn(1, 3)>, programs::fused_only>(t);
}
template <class F>
void check_binary(const tolerance& t = {}) {
    check_op<binary_case<F, drawn_batch(0, 2), drawn_batch(0, 2)>>(t);
    check_op<binary_case<F, stretching_to(drawn_batch(1, 3), 1), drawn_batch(1, 3)>, programs::fused_only>(t);
    check_op<binary_case<F, drawn_batch(2, 2), extents(drawn_batch(2, 2).last())>, programs::fused_only>(t);
}

/// Values and gradients at places chosen by hand, as many at once as are given.
template <class F, int N>
op_result at_places(const double (&x)[N]) {
    return run_op<unary_case<F, extents(N)>>({doubles({N}, std::vector<double>(x, x + N))});
}
template <class F, int N>
op_result at_places(const double (&x)[N], const double (&y)[N]) {
    return run_op<binary_case<F, extents(N), extents(N)>>({doubles({N}, std::vector<double>(x, x + N)), doubles({N}, std::vector<double>(y, y + N))});
}
inline constexpr double infinity = INFINITY, no_number = NAN;

/// Exact equality, NaN being equal to NaN.
inline void check_same(const std::vector<float>& got, const std::vector<double>& want) {
    BOOST_REQUIRE_EQUAL(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        BOOST_TEST((static_cast<double>(got[i]) == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))),
                   "element " << i << " is " << got[i] << ", not " << want[i]);
}

} // namespace sinter::test
