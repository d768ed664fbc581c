// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE round_products
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/attention.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/kernel/cpu/gemm/bf16/bfloat16_gemm.hpp>
#include <sinter/kernel/scalar_arithmetic.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

#include "support/check_net.hpp"

/// program_options{.products = precision::bfloat16}: what it rounds, what it leaves, and that nets learn so.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

inline constexpr program_options bfloat16_products{.products = precision::bfloat16};
static double r(double x) { return static_cast<double>(arithmetic<float>::round_to_bfloat16(static_cast<float>(x))); }

/// A convolution with a pool, and a dense layer. Numbers are drawn so that float32 holds every sum,
/// of rounded ones and of others: what is compared differs by nothing, or by as much as a rounding
/// to eight bits.
constexpr auto net = image<6, 6, 2> >> conv2d<3, 3> >> relu >> max_pool<2> >> flatten >> dense<4>;
constexpr int B = 2, C = 2, F = 3, N = 4;

struct by_hand {
    doubles y{{B, N}}, w1{{3, 3, C, F}}, b1{{F}}, w2{{27, N}}, b2{{N}};   // and the gradients
    double loss = 0;
    explicit by_hand(const net_data& d) {
        const doubles &W1 = d.parameters[0], &b = d.parameters[1], &W2 = d.parameters[2], &x = d.inputs[0],
            &t = d.targets[0];
        const auto source = [&](int n, int i, int j, int c) {
            return i < 0 || i > 5 || j < 0 || j > 5 ? 0 : r(x.at({n, i, j, c}));
        };
        for (int n = 0; n < B; ++n) {
            double h[27], best[27];
            int at[27];
            for (int o = 0; o < 27; ++o) {
                const int f = o % 3, pj = o / 3 % 3, pi = o / 9;
                best[o] = -INFINITY;
                for (int k = 0; k < 4; ++k) {
                    const int i = 2 * pi + k / 2, j = 2 * pj + k % 2;
                    double s = b[f];
                    for (int e = 0; e < 9 * C; ++e)
                        s += source(n, i + e / C / 3 - 1, j + e / C % 3 - 1, e % C) * r(W1[e * F + f]);
                    if (s > best[o]) best[o] = s, at[o] = i * 6 + j;
                }
                h[o] = std::max(best[o], 0.);
            }
            for (int k = 0; k < N; ++k) {
                double s = d.parameters[3][k];
                for (int o = 0; o < 27; ++o) s += r(h[o]) * r(W2[o * N + k]);
                y[n * N + k] = s;
                loss += s * t[n * N + k] / B;
                b2[k] += t[n * N + k] / B;
            }
            for (int o = 0; o < 27; ++o) {
                double dh = 0;
                for (int k = 0; k < N; ++k) {
                    const double dz = r(t[n * N + k] / B);
                    w2[o * N + k] += r(h[o]) * dz;
                    dh += dz * r(W2[o * N + k]);
                }
                if (best[o] <= 0) continue;
                const int f = o % 3;
                b1[f] += dh;   // no product: not rounded
                for (int e = 0; e < 9 * C; ++e)
                    w1[e * F + f] += source(n, at[o] / 6 + e / C / 3 - 1, at[o] % 6 + e / C % 3 - 1, e % C) * r(dh);
            }
        }
    }
};
template <program_options O>
static void compare() {
    using type = std::remove_const_t<decltype(net)>;
    const auto p = make_run<type, weigh_outputs, O, B>();
    net_data d = draw_for(*p);
    for (auto* list : {&d.parameters, &d.inputs, &d.targets})
        for (doubles& x : *list)
            for (double& e : x.v) e = std::nearbyint(e * 1024) / 1024;
    const by_hand want(d);
    check_run(*p, d, B, {want.y}, want.loss, {want.w1, want.b1, want.w2, want.b2}, {.value = 5e-7, .gradient = 5e-7});
}
BOOST_AUTO_TEST_CASE(convolution_and_dense_by_hand) {
    compare<program_options{.store_gradients = true, .products = precision::bfloat16}>();
    compare<program_options{.fuse = false, .store_gradients = true, .products = precision::bfloat16}>();
}

/// Kernels that multiply pairs, which this machine may be slow at, against rounding and kernels of float32.
constexpr auto layers = features<71> >> dense<66> >> relu >> dense<64> >> relu >> dense<5>;
template <bool Pairs>
using layers_program =
    compiled<request<std::remove_const_t<decltype(layers)>, weigh_outputs, sgd, program_mode::training, 5,
                     target{.lanes = cpu::lanes, .parts = 8, .bfloat16_pairs = Pairs}, bfloat16_products>>;
BOOST_AUTO_TEST_CASE(pairs) {
    using paired = layers_program<true>;
    const auto count = [](op_id k) {
        int n = 0;
        for (int i = 0; i < paired::v.n_launches; ++i) n += paired::v.specs[paired::v.launches[i].spec].kind == k;
        return n;
    };
    BOOST_TEST(count(op::bfloat16_weights) == 3);   // both layers', and the second one's the other way round
    BOOST_TEST(count(op::bfloat16_gemm) == 3);
    BOOST_TEST(count(op::bfloat16_gemm_tn) == 2);
    BOOST_TEST(count(op::gemm) == 2);               // the last layer is a small one
    compiled_run<layers_program<false>> one(1);
    compiled_run<paired> two(1), three(3);
    const net_data d = draw_for(one);
    for (int batch : {5, 2}) {
        std::vector<std::vector<float>> y;
        program_run* const all_runs[] = {&one, &two, &three};
        for (program_run* p : all_runs) {
            for (std::size_t i = 0; i < d.parameters.size(); ++i) p->set(p->parameters[i], d.parameters[i]);
            p->run(batch, {d.inputs[0].first(batch), d.targets[0].first(batch)});
            std::vector<float> all = p->output(0, batch);
            for (int i = 0; i < 6; ++i)
                for (float x : p->value(p->parameters[static_cast<std::size_t>(i)])) all.push_back(x);   // updated
            y.push_back(all);
            BOOST_TEST(p->padding_is_zero());
        }
        BOOST_TEST((y[2] == y[1]));
        const doubles want({static_cast<int>(y[0].size())}, std::vector<double>(y[0].begin(), y[0].end()));
        check_close(y[1], want, 1e-3, "by pairs");
        double apart = 0;   // a last bit may round another way to bfloat16 between layers; few do
        for (std::size_t i = 0; i < y[0].size(); ++i) apart += std::abs(static_cast<double>(y[1][i] - y[0][i]));
        BOOST_TEST(apart / static_cast<double>(y[0].size()) < 1e-5);
    }
}

/// Products whose operands are not both rounded, and rounded values that something else than a product reads.
template <class Net, program_mode M, target T>
static int wrong_in() {
    using P = compiled<request<std::remove_const_t<Net>, mse_loss, sgd, M, 4, T, bfloat16_products>>;
    const graph_view g = P::graph;
    const auto moves = [&](int v) {
        const op_id k = g.n[v].k;
        return k == op::weight_transpose || k == op::conv_transpose || k == op::reshape;
    };
    int wrong = 0, products = 0;
    for (int v = 0; v < g.n.n; ++v) {
        const bool product = g.n[v].about->product;
        products += product;
        for (int k = 0; k < g.n[v].operands; ++k) {
            int x = g.n[v].in[k];
            while (moves(x)) x = g.n[x].in[0];
            if (product && k < 2) wrong += g.n[x].k != op::round_to_bfloat16;
            if (!product && !moves(v)) wrong += g.n[g.n[v].in[k]].k == op::round_to_bfloat16;
        }
    }
    return products ? wrong : -1;
}
constexpr auto block = layer_norm >> dense<16> >> gelu >> dense<8>;
constexpr auto squared = [](tensor x) { return ops::matmul(x, x, transposed::no, transposed::yes); };
constexpr auto sequence_net = array<5, 8> >> gru<8> >> [](tensor x) { return x + checkpoint(block)(x); }
                          >> multi_head_attention<2> >> squared >> flatten >> dense<2>;
constexpr auto image_net = image<8, 8, 4> >> conv2d<8, 3, window{.groups = 2}> >> relu >> conv2d<8, 3> >> relu
    >> max_pool<2>
                       >> conv2d<4, 1, window{.stride = 2}> >> flatten >> dense<2>;
BOOST_AUTO_TEST_CASE(all_products_and_nothing_else) {
    constexpr target plain{}, lanes = cpu_device::target;   // a GPU's and ours
    BOOST_TEST((wrong_in<decltype(sequence_net), program_mode::training, lanes>() == 0));
    BOOST_TEST((wrong_in<decltype(sequence_net), program_mode::prediction, plain>() == 0));
    BOOST_TEST((wrong_in<decltype(image_net), program_mode::training, lanes>() == 0));
    BOOST_TEST((wrong_in<decltype(image_net), program_mode::training, plain>() == 0));
}

/// A loop, whose iterations' inputs and states are rounded one by one, and stacks of them in the weights' gradients.
static std::vector<float> losses(int threads) {
    constexpr auto recurrent = array<5, 8> >> gru<8> >> flatten >> dense<2>;
    using type = std::remove_const_t<decltype(recurrent)>;
    trainer<type, mse_loss, sgd, build_options{12, bfloat16_products}> t(sgd{.learning_rate = 0.3f},
                                                                         {.threads = threads});
    random_numbers random(11);
    const doubles x = random.fill({12, 5, 8}, -1, 1);
    const std::vector<float> f(x.v.begin(), x.v.end());
    std::vector<float> y(24), all;
    for (std::size_t i = 0; i < 12; ++i)
        y[2 * i] = f[40 * i] * f[40 * i + 9], y[2 * i + 1] = f[40 * i + 3] - f[40 * i + 39];
    for (int step = 0; step < 100; ++step)
        all.push_back(t.step({.x = f.data(), .y = y.data(), .size = step % 7 ? 12 : 11}));
    return all;
}
BOOST_AUTO_TEST_CASE(learns_and_threads_change_nothing) {
    const std::vector<float> one = losses(1);
    BOOST_TEST((losses(3) == one));
    BOOST_TEST(one.back() < 0.2f * one[0]);
}
