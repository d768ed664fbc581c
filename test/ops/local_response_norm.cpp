// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE local_response_norm
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cast.hpp>
#include <sinter/ops/local_response_norm.hpp>
#include <sinter/ops/relu.hpp>

#include "support/pytorch_blocks.hpp"
#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::blocks;

struct op_of {
    static constexpr shape operands[] = {extents(3, 2, 6)};
    static constexpr tensor apply(tensor x) {
        return ops::local_response_norm(x, {.size = 5, .alpha = 0.5f, .beta = 0.75f, .k = 2.f});
    }
};
BOOST_AUTO_TEST_CASE(as_pytorch_has_it) {
    const op_result a = run_op<op_of>({from(extents(3, 2, 6), f::local_response_norm_x)});
    same(a.y, f::local_response_norm_y, "y");
    same(a.gradients[0], f::local_response_norm_dx, "dx");
}

/// Written otherwise: each channel adds its square to the windows that hold it.
template <shape A, response O>
struct drawn_case {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor x) { return ops::local_response_norm(x, O); }
    static doubles reference(const doubles& x) {
        const int channels = x.d.back();
        doubles s(x.d), y(x.d);
        for (int i = 0; i < x.size(); ++i)
            // more of `to`'s lie before it
            for (int c = i % channels, to = c - (O.size - 1) / 2; to <= c + O.size / 2; ++to)
                if (to >= 0 && to < channels) s[i - c + to] += x[i] * x[i];
        for (int i = 0; i < x.size(); ++i)
            y[i] = x[i] / std::pow(O.k + double(O.alpha) / O.size * s[i], double(O.beta));
        return y;
    }
};
template <shape A, response O>
void check() { check_op<drawn_case<A, O>, programs::fused_only>(); }

BOOST_AUTO_TEST_CASE(odd_and_even_sizes) {   // even: one channel more before than behind
    check_op<drawn_case<batch_of(3, 5), response{4, 2.f, 0.5f}>>();
    check<batch_of(2, 3, 40), response{5, 0.5f}>();
    check<batch_of(2, 67), response{2, 1.f, 1.f}>();
    check<batch_of(37), response{1, 1.f, 0.3f, 2.f}>();   // no roots: exp and log
    check<extents(5, 2, 19), response{6, 1.f, 1.7f, 0.5f}>();
    check<batch_of(7, 24), response{5, 0.5f}>();          // several rows at a time, and a rest
}
BOOST_AUTO_TEST_CASE(few_channels_and_wide_windows) {
    check<batch_of(4, 1), response{5, 1.f}>();
    check<batch_of(3), response{7, 1.f}>();
    check<batch_of(2, 9), response{30, 4.f, 0.5f}>();
    check<batch_of(130), response{120, 9.f}>();           // wider than vectors are
    check<batch_of(35), response{69, 9.f, 1.f}>();
    check<extents(1100), response{5, 1.f}>();             // longer than rows taken at a time
}
struct within_a_net {
    static constexpr shape operands[] = {batch_of(3, 20), extents(20)};
    static constexpr tensor apply(tensor x, tensor b) {
        return ops::relu(ops::local_response_norm(ops::relu(x + b), {3, 1.f})) * b;
    }
    static doubles reference(const doubles& x, const doubles& b) {
        doubles y(x.d);
        for (int i = 0; i < x.size(); ++i) y[i] = std::max(0., x[i] + b[i % 20]);
        y = drawn_case<batch_of(3, 20), response{3, 1.f}>::reference(y);
        for (int i = 0; i < x.size(); ++i) y[i] *= b[i % 20];
        return y;
    }
};
BOOST_AUTO_TEST_CASE(elementwise_ops_and_sums_behind_it) { check_op<within_a_net>(); }

/// Without k windows of zeros have no power, others do; sums beyond all floats leave nothing.
BOOST_AUTO_TEST_CASE(edges_of_the_numbers) {
    using no_k = drawn_case<extents(1, 3), response{3, 3.f, 0.75f, 0.f}>;
    const op_result a = run_op<no_k>({doubles({1, 3}, {1, -2, 2})});
    check_close(a.y, no_k::reference(doubles({1, 3}, {1, -2, 2})), 1e-6, "no k");
    BOOST_TEST(std::isfinite(a.gradients[0][2]));
    using wide = drawn_case<extents(1, 4), response{1, 1.f}>;
    const op_result b = run_op<wide>({doubles({1, 4}, {1e30, -1e30, 0, 1})});
    BOOST_TEST((b.y[0] == 0 && b.y[1] == 0 && b.y[2] == 0));
    const op_result c = run_op<wide>({doubles({1, 4}, {NAN, INFINITY, 0, 1})});
    BOOST_TEST((std::isnan(c.y[0]) && std::isnan(c.y[1]) && c.y[2] == 0));
}

/// dx = d (f - 2 a beta x^2 f / s) of a window of one: both terms count, though f / s leaves the floats.
BOOST_AUTO_TEST_CASE(gradients_of_large_numbers) {
    using alone = drawn_case<extents(1, 4), response{1, 1e-4f}>;
    using other = drawn_case<extents(1, 4), response{1, 1e-4f, 0.3f}>;
    const auto check = [](const op_result& r, const doubles& x, double beta) {
        for (int i = 0; i < 4; ++i) {
            const double s = 1 + double(1e-4f) * x[i] * x[i], f = std::pow(s, -beta),
                         want = f * (1 - 2 * double(1e-4f) * beta * x[i] * x[i] / s);
            const double got = static_cast<double>(r.gradients[0][static_cast<std::size_t>(i)]);
            BOOST_TEST(std::abs(got - want) <= 1e-5 * std::abs(want) + 1e-36, x[i] << ": " << got << ", not " << want);
        }
    };
    for (const double size : {1., 1e6, 1e12, 1e14, 1e15, 1e18}) {
        const doubles x({1, 4}, {size, -3 * size, 0.5 * size, 2 * size});
        check(run_op<alone>({x}), x, 0.75);
        check(run_op<other>({x}), x, double(0.3f));
    }
}

BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::window_out_of_range,
                       [](tensor x) { return ops::local_response_norm(x, {.size = 0}); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::wrong_element_type,
                       [](tensor x) { return ops::local_response_norm(ops::cast(x, 3)); }));
}
