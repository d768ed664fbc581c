// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE scan
#include <boost/test/unit_test.hpp>

#include <sinter/ops/greater.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/scan.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/ops/where.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// h = tanh(x_t W + h U + b), every h put out: against the same loop in double, gradients by central differences.
template <bool Reverse, bool Recompute>
struct recurrent_net {
    static constexpr int T = 4, F = 3, H = 5;
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(T, F), {}, {0});
        g.inputs.push(x.id);
        const tensor w = weights(x, "w", extents(F, H), ones), u = weights(x, "u", extents(H, H), ones);
        const tensor b = parameter(x, "b", extents(H), ones), first = parameter(x, "first", extents(H), ones);
        shape h0 = extents(H);
        h0.batched = true;
        const scan_step r = scan(
            [=](bundle h, bundle x_t) {
                const tensor next = tanh(matmul(x_t[0], w) + matmul(h[0], u) + b);
                return scan_step{next, next};
            },
            ops::broadcast_to(first, h0), x, {.reverse = Reverse, .recompute = Recompute});
        return outputs(r.outputs[0], r.carry[0]);
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles &w = p[0], &u = p[1], &b = p[2], &first = p[3], &x = in[0];
        const int B = x.d[0];
        doubles all({B, T, H}), last({B, H});
        for (int e = 0; e < B; ++e) {
            std::vector<double> h(first.v);
            for (int k = 0; k < T; ++k) {
                const int t = Reverse ? T - 1 - k : k;
                std::vector<double> next(H);
                for (int j = 0; j < H; ++j) {
                    double s = b[j];
                    for (int i = 0; i < F; ++i) s += x[(e * T + t) * F + i] * w[i * H + j];
                    for (int i = 0; i < H; ++i) s += h[static_cast<std::size_t>(i)] * u[i * H + j];
                    next[static_cast<std::size_t>(j)] = std::tanh(s);
                    all[(e * T + t) * H + j] = next[static_cast<std::size_t>(j)];
                }
                h = next;
            }
            for (int j = 0; j < H; ++j) last[e * H + j] = h[static_cast<std::size_t>(j)];
        }
        return {all, last};
    }
};

BOOST_AUTO_TEST_CASE(forwards) { check_net(recurrent_net<false, false>{}, recurrent_net<false, false>::reference); }
BOOST_AUTO_TEST_CASE(backwards_computing_the_iterations_again) {
    check_net<programs::fused_only>(recurrent_net<true, true>{}, recurrent_net<true, true>::reference);
}

/// Without a batch, over a parameter's rows, with a number of iterations that is found when the
/// program runs: 3 of 5. The scale is summed iteration by iteration, the second input is a row's own number.
struct counted_net {
    static constexpr int T = 5, H = 3, iterations = 3;
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(H), {}, {0});
        g.inputs.push(x.id);
        const tensor rows = parameter(x, "rows", extents(T, H), ones), scale = parameter(x, "scale", extents(H), ones);
        const tensor three =
            ops::over_batch(ops::sum(ops::broadcast_to(constant(&g, 1.f), batch_of()), {batch_axis})) * 3.f;
        const scan_step r = scan(
            [=](bundle h, bundle row) {
                const tensor next = tanh(row[0] * scale + h[0] * h[0]) + ops::loop_index(h[0]) * 0.25f;
                return scan_step{next, bundle(next * scale)};
            },
            ops::broadcast_to(constant(&g, 0.5f), extents(H)), rows, {.count = three});
        return outputs(x * r.carry[0], x * ops::sum(r.outputs[0], {0}));
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles &rows = p[0], &scale = p[1], &x = in[0];
        doubles last(x.d), all(x.d);
        for (int j = 0; j < H; ++j) {
            double h = 0.5, sum = 0;
            for (int t = 0; t < iterations; ++t) {
                h = std::tanh(rows[t * H + j] * scale[j] + h * h) + 0.25 * t;
                sum += h * scale[j];
            }
            for (int e = 0; e < x.d[0]; ++e) last[e * H + j] = x[e * H + j] * h, all[e * H + j] = x[e * H + j] * sum;
        }
        return {last, all};
    }
};
BOOST_AUTO_TEST_CASE(fewer_iterations_than_slices) { check_net(counted_net{}, counted_net::reference); }

/// A loop over rows that are cut from what another loop handed on: [6] as two rows of three. The
/// number of iterations is what a third loop counted.
struct loops_of_loops_net {
    static constexpr int T = 3, H = 6, rows = 2, width = 3;
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(width), {}, {0});
        g.inputs.push(x.id);
        const tensor a = parameter(x, "a", extents(T, H), ones), b = parameter(x, "b", extents(H), ones);
        const tensor c = parameter(x, "c", extents(width), ones);
        const auto add_up = [](bundle h, bundle row) { return scan_step{tanh(h[0] + row[0]), {}}; };
        const scan_step r = scan(add_up, b, a);
        const tensor all = constant(&g, 1.f);
        const scan_step n = scan([](bundle h, bundle) { return scan_step{h[0] + 1.f, {}}; },
                                 ops::broadcast_to(all, extents()), bundle{}, {.length = 1});   // 2
        const tensor padded = ops::reshape(r.carry[0], extents(rows, width));
        const scan_step s = scan(add_up, c, padded, {.count = n.carry[0] - 1.f});
        const scan_step t = scan(add_up, c, padded, {.count = n.carry[0]});
        const scan_step u = scan(add_up, c, padded, {.count = constant(&g, 1.f)});
        return outputs(x * s.carry[0], x * t.carry[0], x * u.carry[0]);
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles &a = p[0], &b = p[1], &c = p[2], &x = in[0];
        std::vector<double> h(b.v), one(c.v), two;
        for (int t = 0; t < T; ++t)
            for (std::size_t j = 0; j < H; ++j) h[j] = std::tanh(h[j] + a[t * H + static_cast<int>(j)]);
        for (std::size_t j = 0; j < width; ++j) one[j] = std::tanh(one[j] + h[j]);
        two = one;
        for (std::size_t j = 0; j < width; ++j) two[j] = std::tanh(two[j] + h[width + j]);
        doubles y1(x.d), y2(x.d);
        for (int i = 0; i < x.size(); ++i) {
            const auto j = static_cast<std::size_t>(i % width);
            y1[i] = x[i] * one[j], y2[i] = x[i] * two[j];
        }
        return {y1, y2, y1};
    }
};
BOOST_AUTO_TEST_CASE(loops_over_what_loops_left) { check_net(loops_of_loops_net{}, loops_of_loops_net::reference); }

/// Elementwise work on what a loop left must not be fused with what its gradient's loop begins with.
struct gradient_behind_loop_net {
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(1), {}, {0});
        g.inputs.push(x.id);
        const tensor p = parameter(x, "p", extents(1, 6), ones), w = weights(x, "w", extents(6, 1), ones);
        const tensor u = weights(x, "u", extents(1, 1), ones), s = parameter(x, "s", extents(1), ones);
        const tensor numbers = make<op::column_index>(&g, extents(6), {});
        const tensor rows = ops::where(ops::greater(numbers, 0.5f), p * 2.f, 0.f) - p * 3.f;
        const scan_step r = scan(
            [=](bundle h, bundle row) {
                const tensor next = tanh(matmul(h[0], u) + matmul(row[0], w) * s + s);
                return scan_step{next, next * h[0]};
            },
            parameter(x, "first", extents(1), ones), rows);
        return outputs(x * ops::sum(r.outputs[0], {0}));
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        double product = 0;
        for (int i = 0; i < 6; ++i) product += (p[0][i] * (i ? 2 : 0) - 3 * p[0][i]) * p[1][i];
        const double h = p[4][0], next = std::tanh(h * p[2][0] + product * p[3][0] + p[3][0]);
        doubles y(in[0].d);
        for (int i = 0; i < y.size(); ++i) y[i] = in[0][i] * next * h;
        return {y};
    }
};
BOOST_AUTO_TEST_CASE(gradients_behind_their_loop) {
    check_net(gradient_behind_loop_net{}, gradient_behind_loop_net::reference);
}

/// Random numbers are others in each iteration.
struct drawing_net {
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(4, 6), {}, {0});
        g.inputs.push(x.id);
        return scan([](bundle, bundle s) { return scan_step{{}, ops::random_uniform(s[0])}; }, bundle{}, x).outputs;
    }
};
BOOST_AUTO_TEST_CASE(each_iteration_draws_anew) {
    const auto p = make_run<drawing_net, weigh_outputs, as_fused, 2, program_mode::prediction>();
    p->run(2, {doubles({2, 4, 6}, 0.)});
    const std::vector<float> y = p->output(0, 2);
    for (std::size_t i = 0; i < y.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) BOOST_TEST(y[i] != y[j], "elements " << i << " and " << j);
}

/// Inputs [T]: a slice is one number for each example, and so may be what is handed on. h = h / 2 + x_t x_t.
struct scalars_net {
    static constexpr int T = 5;
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(T), {}, {0});
        g.inputs.push(x.id);
        const tensor scale = parameter(x, "scale", extents(T), ones), y = x * scale;
        const scan_step r = scan(
            [](bundle h, bundle x_t) {
                const tensor next = h[0] * 0.5f + x_t[0] * x_t[0];
                return scan_step{next, next};
            },
            ops::broadcast_to(constant(&g, 0.f), batch_of()), y);
        return outputs(r.carry[0], r.outputs[0]);
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles &scale = p[0], &x = in[0];
        doubles last({x.d[0]}), all({x.d[0], T});
        for (int e = 0; e < x.d[0]; ++e)
            for (int t = 0; t < T; ++t) {
                const double v = x[e * T + t] * scale[t];
                last[e] = last[e] / 2 + v * v;
                all[e * T + t] = last[e];
            }
        return {last, all};
    }
};
BOOST_AUTO_TEST_CASE(one_number_an_iteration) {
    check_net(scalars_net{}, scalars_net::reference);
    constexpr bool hands_scalars = [] {
        graph g;
        const bundle y = scalars_net::trace(g);
        return y[0].shape().rank == 0 && y[1].shape() == batch_of(scalars_net::T) && g.err.what == fault_kind::none;
    }();
    static_assert(hands_scalars);
}
