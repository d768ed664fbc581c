// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/builtin_ops.hpp>

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

template <class F, shape A, shape B, shape C>
struct ternary_case {
    static constexpr shape operands[] = {A, B, C};
    static constexpr double low = low_of<F>(), high = high_of<F>();
    static constexpr tensor apply(tensor a, tensor b, tensor c) { return F::apply(a, b, c); }
    static doubles reference(const doubles& a, const doubles& b, const doubles& c) { return map(a, b, c, F::value); }
};

/// Shapes drawn for this op: rows, blocks, and what is stretched to a block.
template <class F>
constexpr shape drawn_rows(int number) { return drawn_batch(number, 2, name_of<F>()); }
template <class F>
constexpr shape drawn_block(int number) { return drawn_batch(number, 3, name_of<F>()); }
template <class F>
constexpr shape stretching(int number) { return stretching_to(drawn_block<F>(number), number, name_of<F>()); }

template <class F>
void check_unary(const tolerance& t = {}) {
    check_op<unary_case<F, drawn_rows<F>(0)>>(t);
    check_op<unary_case<F, drawn(1, 3, name_of<F>())>, programs::fused_only>(t);
}
template <class F>
void check_binary(const tolerance& t = {}) {
    check_op<binary_case<F, drawn_rows<F>(0), drawn_rows<F>(0)>>(t);
    check_op<binary_case<F, stretching<F>(1), drawn_block<F>(1)>, programs::fused_only>(t);
    check_op<binary_case<F, drawn_rows<F>(2), extents(drawn_rows<F>(2).last())>, programs::fused_only>(t);
}

template <class F>
void check_ternary(const tolerance& t = {}) {
    check_op<ternary_case<F, drawn_rows<F>(0), drawn_rows<F>(0), drawn_rows<F>(0)>>(t);
    check_op<ternary_case<F, drawn_block<F>(1), stretching<F>(1), drawn_block<F>(1)>, programs::fused_only>(t);
    check_op<ternary_case<F, extents(drawn_rows<F>(2).last()), drawn_rows<F>(2), drawn_rows<F>(2)>,
             programs::fused_only>(t);
}

/// What check_unary and at_places do, by one fused program for both: for ops that differ from
/// others in nothing but their function, since each program costs a second of compile time. So many
/// places at once, which ends within a vector.
inline constexpr int light_places = 19;
template <class F>
using light_unary = unary_case<F, extents(light_places)>;
template <class F>
using light_binary = binary_case<F, extents(light_places), extents(light_places)>;
template <class F>
void check_unary_light(const tolerance& t = {}) { check_op<light_unary<F>, programs::fused_only, 1>(t); }
template <class F>
void check_binary_light(const tolerance& t = {}) { check_op<light_binary<F>, programs::fused_only, 1>(t); }

namespace detail {
inline doubles fill_places(const double* x, int n) {   // the last place again where fewer are given
    doubles v({light_places});
    for (int i = 0; i < light_places; ++i) v[i] = x[i < n ? i : n - 1];
    return v;
}
inline op_result first_places(op_result r, int n) {
    r.y.resize(static_cast<std::size_t>(n));
    for (auto& g : r.gradients) g.resize(static_cast<std::size_t>(n));
    return r;
}
} // namespace detail
template <class F, int N>
op_result at_places_light(const double (&x)[N]) {
    static_assert(N <= light_places);
    return detail::first_places(run_op<light_unary<F>>({detail::fill_places(x, N)}), N);
}
template <class F, int N>
op_result at_places_light(const double (&x)[N], const double (&y)[N]) {
    static_assert(N <= light_places);
    return detail::first_places(run_op<light_binary<F>>({detail::fill_places(x, N), detail::fill_places(y, N)}), N);
}

/// The same against numbers from elsewhere.
template <class F, int N>
void check_at(const double (&x)[N], const double (&y)[N], const double (&dx)[N], double limit = 1e-6) {
    const op_result r = at_places_light<F>(x);
    check_close(r.y, doubles({N}, std::vector<double>(y, y + N)), limit, "value");
    check_close(r.gradients[0], doubles({N}, std::vector<double>(dx, dx + N)), limit, "gradient");
}

/// Values and gradients at places chosen by hand, as many at once as are given.
template <class F, int N>
op_result at_places(const double (&x)[N]) {
    return run_op<unary_case<F, extents(N)>>({doubles({N}, std::vector<double>(x, x + N))});
}
template <class F, int N>
op_result at_places(const double (&x)[N], const double (&y)[N]) {
    return run_op<binary_case<F, extents(N), extents(N)>>({doubles({N}, std::vector<double>(x, x + N)),
                                                           doubles({N}, std::vector<double>(y, y + N))});
}
template <class F, int N>
op_result at_places(const double (&x)[N], const double (&y)[N], const double (&z)[N]) {
    const auto at = [](const double* p) { return doubles({N}, std::vector<double>(p, p + N)); };
    return run_op<ternary_case<F, extents(N), extents(N), extents(N)>>({at(x), at(y), at(z)});
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
