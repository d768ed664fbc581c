// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE transposed_weights
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

#include "support/check_net.hpp"

/// The gradient of a large layer's input, by weights that are turned within the product.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

namespace {

constexpr int I = 7, H = 300, N = 441;   // panels that are not full, either way
constexpr auto net = features<I> >> dense<H> >> relu >> dense<N>;

/// All gradients, in double.
struct by_hand {
    doubles y, w1{{I, H}}, b1{{H}}, w2{{H, N}}, b2{{N}};
    double loss = 0;
    by_hand(const net_data& d, int B) : y({B, N}) {
        const doubles &W1 = d.parameters[0], &W2 = d.parameters[2], &x = d.inputs[0], &t = d.targets[0];
        for (int n = 0; n < B; ++n) {
            std::vector<double> h(H);
            for (int o = 0; o < H; ++o) {
                double s = d.parameters[1][o];
                for (int i = 0; i < I; ++i) s += x[n * I + i] * W1[i * H + o];
                h[static_cast<std::size_t>(o)] = std::max(s, 0.);
            }
            for (int k = 0; k < N; ++k) {
                y[n * N + k] = d.parameters[3][k];
                for (int o = 0; o < H; ++o) y[n * N + k] += h[static_cast<std::size_t>(o)] * W2[o * N + k];
                loss += y[n * N + k] * t[n * N + k] / B;
                b2[k] += t[n * N + k] / B;
            }
            for (int o = 0; o < H; ++o) {
                const double active = h[static_cast<std::size_t>(o)];
                double dh = 0;
                for (int k = 0; k < N; ++k) {
                    w2[o * N + k] += active * t[n * N + k] / B;
                    dh += W2[o * N + k] * t[n * N + k] / B;
                }
                if (active <= 0) continue;
                b1[o] += dh;
                for (int i = 0; i < I; ++i) w1[i * H + o] += x[n * I + i] * dh;
            }
        }
    }
};

template <int Batch, program_options O = program_options{.store_gradients = true},
          class Net = std::remove_const_t<decltype(net)>>
using program_for = compiled<request<Net, weigh_outputs, sgd, program_mode::training, Batch, cpu_device::target, O>>;

template <class P>
int transposes() {
    int n = 0;
    for (int i = 0; i < P::v.n_launches; ++i) n += P::v.specs[P::v.launches[i].spec].kind == op::weight_transpose;
    return n;
}

} // namespace

BOOST_AUTO_TEST_CASE(gradients_by_hand) {
    using type = std::remove_const_t<decltype(net)>;
    constexpr int B = 9;
    const auto p = make_run<type, weigh_outputs, program_options{.store_gradients = true}, B>();
    const net_data d = draw_for(*p);
    for (int batch : {B, 2, 1}) {
        net_data part = d;
        for (auto* list : {&part.inputs, &part.targets})
            for (doubles& x : *list) {
                const std::size_t one = x.v.size() / B;
                x.v.resize(one * static_cast<std::size_t>(batch));
                x.d[0] = batch;
            }
        const by_hand want(part, batch);
        check_run(*p, part, batch, {want.y}, want.loss, {want.w1, want.b1, want.w2, want.b2},
                  {.value = 1e-5, .gradient = 1e-5});
    }
}

BOOST_AUTO_TEST_CASE(no_transpose_lies_in_memory) {
    BOOST_TEST(transposes<program_for<9>>() == 0);
    BOOST_TEST((transposes<program_for<9, program_options{.fuse = false}>>() == 0));
    BOOST_TEST(transposes<program_for<129>>() == 1);   // many rows repay one
    constexpr auto little = features<I> >> dense<50> >> relu >> dense<2>;
    using type = std::remove_const_t<decltype(little)>;
    BOOST_TEST((transposes<program_for<128, program_options{.store_gradients = true}, type>>() == 0));
    BOOST_TEST((transposes<program_for<129, program_options{.store_gradients = true}, type>>() == 1));
}
