// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE long_chain
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/expr/input.hpp>

#include "support/check_net.hpp"

/// 256 layers within the compilers' default limits, each width another one than its neighbours'.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

constexpr int width(int i) { return 9 + i * 7 % 32; }

/// Some layers at a time: compilers limit how deep one expression may be.
template <int First, int... I>
constexpr auto layers(std::integer_sequence<int, I...>) {
    return ((dense<width(First + I)> >> relu) >> ...);
}
template <int First>
constexpr auto row = layers<First>(std::make_integer_sequence<int, 32>{});

constexpr auto few = features<8> >> layers<0>(std::make_integer_sequence<int, 8>{});
constexpr auto many = features<8> >> row<0> >> row<32> >> row<64> >> row<96> >> row<128> >> row<160> >> row<192>
    >> row<224>;

template <class Net>
using trained = compiled<request<std::remove_const_t<Net>, weigh_outputs, sgd, program_mode::training, 3,
                                 cpu_device::target, as_trained>>;

BOOST_AUTO_TEST_CASE(layers_share_kernels) {
    using short_one = trained<decltype(few)>;
    using long_one = trained<decltype(many)>;
    BOOST_TEST(long_one::v.n_parameters == 512);
    BOOST_TEST(long_one::v.n_specs == short_one::v.n_specs);
    BOOST_TEST(long_one::v.n_launches > 500);
}

/// Kernels that pass the first eight columns on: inputs above zero come out as they went in, and the gradient of each
/// kernel is the same product of input and weights of the loss.
BOOST_AUTO_TEST_CASE(a_gradient_passes_through_all) {
    const auto p = make_run<std::remove_const_t<decltype(many)>, weigh_outputs, as_trained, 3>();
    for (std::size_t i = 0; i < p->parameters.size(); i += 2) {
        const shape& s = p->parameters[i].s;
        doubles kernel({s.d[0], s.d[1]});
        for (int k = 0; k < 8; ++k) kernel[k * s.d[1] + k] = 1;
        p->set(p->parameters[i], kernel);
    }
    random_numbers random(5);
    const int last = p->outputs[0].last();
    const doubles x = random.fill({2, 8}, 0.5, 1), w = random.fill({2, last}, -1, 1);
    p->run(2, {x, w});
    const auto y = p->output(0, 2);
    for (int n = 0; n < 2; ++n)
        for (int k = 0; k < last; ++k)
            BOOST_TEST(y[static_cast<std::size_t>(n * last + k)] == (k < 8 ? static_cast<float>(x[n * 8 + k]) : 0.f));
    for (std::size_t i = 0; i < p->parameters.size(); i += 2) {
        const shape& s = p->parameters[i].s;
        doubles want({s.d[0], s.d[1]});
        for (int a = 0; a < 8; ++a)
            for (int b = 0; b < 8; ++b) want[a * s.d[1] + b] = (x[a] * w[b] + x[8 + a] * w[last + b]) / 2;
        check_close(p->gradient(static_cast<int>(i)), want, 1e-6, "gradient of " + p->paths[i]);
    }
}
