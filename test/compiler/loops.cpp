// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE loops
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/lstm.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// The loop against what it stands for.
constexpr recurrent_options stored{}, again{.recompute = true};

template <class Net>
using training = compiled<request<Net, weigh_outputs, sgd, program_mode::training, 3, cpu_device::target, as_fused>>;

/// The same iterations written out: as many matmuls and gates as there are steps.
template <int T, int F, int H>
struct unrolled {
    static constexpr bundle trace(graph& g) {
        const tensor all = make<op::input>(&g, batch_of(T, F), {}, {0});
        g.inputs.push(all.id);
        const scoped scope(&g, "lstm");
        tensor a[4], u[4];
        constexpr const char* names[4][3] = {{"kernel_i", "bias_i", "recurrent_kernel_i"},
                                             {"kernel_f", "bias_f", "recurrent_kernel_f"},
                                             {"kernel_c", "bias_c", "recurrent_kernel_c"},
                                             {"kernel_o", "bias_o", "recurrent_kernel_o"}};
        for (int k = 0; k < 4; ++k) a[k] = sinter::detail::input_part(all, names[k][0], names[k][1], H, 4);
        for (int k = 0; k < 4; ++k) u[k] = sinter::detail::recurrent_kernel(all, names[k][2], H);
        tensor h = sinter::detail::zero_state(all, H), c = h, y;
        for (int t = 0; t < T; ++t) {
            const auto gate = [&](int k) {
                return ops::reshape(ops::slice(a[k], 0, t, 1), extents(H)) + matmul(h, u[k]);
            };
            const tensor i = ops::sigmoid(gate(0)), f = ops::sigmoid(gate(1)), n = ops::tanh(gate(2)),
                o = ops::sigmoid(gate(3));
            c = f * c + i * n;
            h = o * ops::tanh(c);
            const tensor row = ops::reshape(h, extents(1, H));
            y = t ? ops::concat(y, row, 0) : row;
        }
        return y;
    }
};

struct results {
    std::vector<float> y;
    std::vector<std::vector<float>> gradients;
};
template <class Net>
results run(int threads = 1, int steps = 0) {
    const auto p = make_run<Net, weigh_outputs, as_fused, 3>(threads);
    net_data d = draw_for(*p);
    for (std::size_t i = 0; i < p->parameters.size(); ++i) p->set(p->parameters[i], d.parameters[i]);
    std::vector<doubles> ports = d.inputs;
    if (steps) ports[1].v.assign(ports[1].v.size(), steps);
    ports.push_back(d.targets[0]);
    p->run(3, ports);
    results r{p->output(0, 3), {}};
    for (int i = 0; i < static_cast<int>(p->parameters.size()); ++i) r.gradients.push_back(p->gradient(i));
    return r;
}
static void check_near(const results& a, const results& b) {
    check_close(a.y, doubles({static_cast<int>(b.y.size())}, {b.y.begin(), b.y.end()}), 1e-6, "results");
    BOOST_REQUIRE_EQUAL(a.gradients.size(), b.gradients.size());
    for (std::size_t i = 0; i < a.gradients.size(); ++i) {
        const std::vector<float>& g = b.gradients[i];
        check_close(a.gradients[i], doubles({static_cast<int>(g.size())}, {g.begin(), g.end()}), 1e-5,
                    "gradient " + std::to_string(i));
    }
}

BOOST_AUTO_TEST_CASE(a_loop_is_its_turns_written_out) {
    constexpr auto net = array<4, 3> >> lstm<5>;
    check_near(run<decltype(net)>(), run<unrolled<4, 3, 5>>());
}
BOOST_AUTO_TEST_CASE(zeros_are_not_multiplied_and_nothing_is_handed_on_to_nobody) {
    const auto left_out = []<class Net>(Net, int& first, int& last, std::int64_t& rows) {
        constexpr const auto& p = training<Net>::v;
        first = last = 0, rows = 0;
        for (int i = 0; i < p.n_launches; ++i) {
            const launch& l = p.launches[i];
            const std::int64_t* const e = p.extents + l.first_extent;
            last += l.skips_last;
            if (p.specs[l.spec].kind == op::gemm) first += static_cast<int>(e[4]);
            if (p.specs[l.spec].kind == op::gemm_tn) rows += e[2];
        }
    };
    constexpr recurrent_options reverse{.reverse = true}, carried{.carried = true};
    int first, last;
    std::int64_t rows;
    left_out(array<6, 3> >> lstm<5>, first, last, rows);
    BOOST_TEST(first == 4);   // h_0 U
    BOOST_TEST(last == 4);    // d h_0
    BOOST_TEST(rows == 4);    // h_0^T D
    left_out(array<6, 3> >> lstm<5, reverse>, first, last, rows);
    BOOST_TEST(first == 4);
    BOOST_TEST(last == 4);
    BOOST_TEST(rows == -4);
    left_out(array<6, 3> >> lstm<5, carried>, first, last, rows);
    BOOST_TEST(first == 0);
    BOOST_TEST(last == 4);
    BOOST_TEST(rows == 0);
}
BOOST_AUTO_TEST_CASE(kept_or_computed_again_is_the_same_to_the_bit) {
    constexpr auto keeps = array<6, 3> >> lstm<5, stored>;
    constexpr auto computes = array<6, 3> >> lstm<5, again>;
    const results a = run<decltype(keeps)>(), b = run<decltype(computes)>(2);
    BOOST_TEST(a.y == b.y);
    for (std::size_t i = 0; i < a.gradients.size(); ++i)
        BOOST_TEST((a.gradients[i] == b.gradients[i]), "gradient " << i);
}
/// Four values an iteration, of which the gradient reads all; only the last is handed on.
template <bool Again>
struct deep_iteration {
    static constexpr bundle trace(graph& g) {
        const bundle x = array<20, 8>.make_inputs(g);
        const tensor w = parameter(x[0], "w", extents(8), ones);
        shape s = extents(8);
        s.batched = true;
        return scan(
                   [=](bundle h, bundle in) {
                       tensor v = (h[0] + in[0]) * w;
                       // no weights: the gradients of these are not kept
                       for (int i = 0; i < 4; ++i) v = ops::tanh(v);
                       return scan_step{v, {}};
                   },
                   ops::broadcast_to(constant(&g, 0.f), s), x, {.recompute = Again})
            .carry;
    }
};
BOOST_AUTO_TEST_CASE(computing_again_saves_memory) {
    const results a = run<deep_iteration<false>>(), b = run<deep_iteration<true>>();
    BOOST_TEST((a.gradients == b.gradients));
    constexpr auto kept = training<deep_iteration<false>>::v.z.activations;
    constexpr auto less = training<deep_iteration<true>>::v.z.activations;
    BOOST_TEST(4 * less < 3 * kept);
}
BOOST_AUTO_TEST_CASE(length_does_not_multiply_kernels) {
    constexpr auto few = array<3, 3> >> lstm<5>;
    constexpr auto many = array<60, 3> >> lstm<5>;
    BOOST_TEST(training<decltype(few)>::v.n_specs == training<decltype(many)>::v.n_specs);
    BOOST_TEST(training<decltype(few)>::v.n_launches == training<decltype(many)>::v.n_launches);
}

/// Gates lie where the products were that they are made of, their gradients over gates and over that of the result.
BOOST_AUTO_TEST_CASE(gates_take_the_place_of_what_they_are_made_of) {
    constexpr auto net = array<20, 8> >> lstm<16>;
    constexpr const auto& p = training<decltype(net)>::v;
    constexpr std::int64_t iterations = 3 * 20 * 16;    // floats of one value
    BOOST_TEST(p.z.activations < 13.5 * iterations);   // 17 where each value has memory of its own
    int over = 0;
    for (int i = 0; i < p.n_launches; ++i) {
        const launch& l = p.launches[i];
        const spec& s = p.specs[l.spec];
        for (int a = 0; a < s.instructions; ++a)
            for (int b = a + 1; b < s.instructions; ++b) {
                const instruction from = instruction::unpack(p.code[s.code + a]),
                    to = instruction::unpack(p.code[s.code + b]);
                over += from.is(opcode::load) && to.is(opcode::store) && p.args[l.first_arg + from.arg].moves &&
                        p.args[l.first_arg + from.arg] == p.args[l.first_arg + to.arg];
            }
    }
    BOOST_TEST(over == 8);
}

/// As many iterations as the batch's second input says (the mean of it, for it is the same everywhere).
template <int T>
struct counted {
    static constexpr bundle trace(graph& g) {
        const bundle in = inputs(array<T, 3>, array<1>).make_inputs(g);
        const tensor count = ops::mean(in[1], {batch_axis, 0}), w = weights(in[0], "w", extents(4, 4), orthogonal);
        const tensor k = weights(in[0], "k", extents(3, 4), orthogonal);
        shape s = extents(4);
        s.batched = true;
        const scan_step r = scan(
            [=](bundle h, bundle x) {
                const tensor next = ops::tanh(matmul(h[0], w)) + matmul(x[0], k);   // whose gradient is a carry itself
                return scan_step{next, {}};
            },
            ops::broadcast_to(constant(&g, 0.25f), s), in[0], {.count = count});
        return r.carry;
    }
};
/// Its first steps alone.
template <int T, int Steps>
struct shortened {
    static constexpr bundle trace(graph& g) {
        const bundle in = inputs(array<T, 3>, array<1>).make_inputs(g);
        const tensor first = ops::slice(in[0], 0, 0, Steps), w = weights(in[0], "w", extents(4, 4), orthogonal);
        const tensor k = weights(in[0], "k", extents(3, 4), orthogonal);
        shape s = extents(4);
        s.batched = true;
        return scan(
                   [=](bundle h, bundle x) {
                       // whose gradient is a carry itself
                       const tensor next = ops::tanh(matmul(h[0], w)) + matmul(x[0], k);
                       return scan_step{next, {}};
                   },
                   ops::broadcast_to(constant(&g, 0.25f), s), first)
            .carry;
    }
};
BOOST_AUTO_TEST_CASE(a_length_found_at_run_time_is_a_shorter_loop) {
    check_near(run<counted<5>>(1, 3), run<shortened<5, 3>>(2, 3));
    check_near(run<counted<5>>(1, 1), run<shortened<5, 1>>(1, 1));
}
