// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE attention_layer
#include <boost/test/unit_test.hpp>

#include <complex>

#include <sinter/expr/input.hpp>
#include <sinter/layers/attention.hpp>

#include "fixtures/pytorch_attention.hpp"
#include "support/attention.hpp"
#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::pytorch;

template <std::size_t N>
doubles list(const double (&x)[N], std::vector<int> d) {
    return doubles(std::move(d), std::vector<double>(x, x + N));
}
/// Our loss is a mean over the two examples, PyTorch's numbers are those of a sum.
const doubles dy = map(list(golden::mha_dy, {2, 4, 6}), [](double d) { return 2 * d; });

template <class Net>
std::unique_ptr<program_run> with_pytorchs_weights(Net) {
    auto p = make_run<Net, weigh_outputs, as_fused, 2>();
    const std::vector<doubles> w{list(golden::mha_query_kernel, {6, 6}),  list(golden::mha_query_bias, {6}),
                                 list(golden::mha_key_kernel, {6, 6}),    list(golden::mha_key_bias, {6}),
                                 list(golden::mha_value_kernel, {6, 6}),  list(golden::mha_value_bias, {6}),
                                 list(golden::mha_output_kernel, {6, 6}), list(golden::mha_output_bias, {6})};
    BOOST_REQUIRE_EQUAL(p->parameters.size(), w.size());
    for (std::size_t i = 0; i < w.size(); ++i) p->set(p->parameters[i], w[i]);
    return p;
}
void check_gradients(const program_run& p, std::initializer_list<doubles> want) {
    int i = 0;
    for (const doubles& g : want) {
        check_close(p.gradient(i), g, i == 3 ? 5e-4 : 2e-6,
                    p.paths[static_cast<std::size_t>(i)]);   // a key's bias changes nothing: rounding
        ++i;
    }
}

BOOST_AUTO_TEST_CASE(looking_at_itself_as_pytorch) {
    const auto p = with_pytorchs_weights(array<4, 6>
                                         >> multi_head_attention<2, attention_settings{.causal = causal::yes}>);
    BOOST_TEST(p->paths[0] == "multi_head_attention/query/kernel");
    BOOST_TEST(p->paths[7] == "multi_head_attention/output/bias");
    p->run(2, {list(golden::mha_x, {2, 4, 6}), dy});
    check_close(p->output(0, 2), list(golden::mha_self_y, {48}), 2e-6, "y");
    check_gradients(*p, {list(golden::mha_self_query_dkernel, {36}), list(golden::mha_self_query_dbias, {6}),
                         list(golden::mha_self_key_dkernel, {36}), list(golden::mha_self_key_dbias, {6}),
                         list(golden::mha_self_value_dkernel, {36}), list(golden::mha_self_value_dbias, {6}),
                         list(golden::mha_self_output_dkernel, {36}), list(golden::mha_self_output_dbias, {6})});
}
BOOST_AUTO_TEST_CASE(looking_elsewhere_as_pytorch) {
    constexpr auto look = [](tensor x, tensor memory) { return multi_head_attention<2>(x, memory); };
    const auto p = with_pytorchs_weights(inputs(array<4, 6>, array<5, 6>) >> look);
    p->run(2, {list(golden::mha_x, {2, 4, 6}), list(golden::mha_memory, {2, 5, 6}), dy});
    check_close(p->output(0, 2), list(golden::mha_cross_y, {48}), 2e-6, "y");
    check_gradients(*p, {list(golden::mha_cross_query_dkernel, {36}), list(golden::mha_cross_query_dbias, {6}),
                         list(golden::mha_cross_key_dkernel, {36}), list(golden::mha_cross_key_dbias, {6}),
                         list(golden::mha_cross_value_dkernel, {36}), list(golden::mha_cross_value_dbias, {6}),
                         list(golden::mha_cross_output_dkernel, {36}), list(golden::mha_cross_output_dbias, {6})});
}
/// Fewer heads of keys than of queries, heads of another width, no biases, and lengths.
BOOST_AUTO_TEST_CASE(other_extents) {
    constexpr attention_settings s{.kv_heads = 1, .head_width = 3, .bias = bias::no};
    constexpr auto look = [](tensor x, tensor n) {
        return multi_head_attention<2, attention_settings{.kv_heads = 1, .head_width = 3, .bias = bias::no}>(x, x, n);
    };
    const auto p = make_run<decltype(inputs(array<4, 5>, indices<1>) >> look), weigh_outputs, as_fused, 2>();
    BOOST_REQUIRE_EQUAL(p->parameters.size(), 4u);
    BOOST_TEST((extents_with(p->parameters[0].s, 0) == std::vector{5, 2 * s.head_width}));
    BOOST_TEST((extents_with(p->parameters[1].s, 0) == std::vector{5, s.head_width}));
    BOOST_TEST((extents_with(p->parameters[3].s, 0) == std::vector{2 * s.head_width, 5}));
    p->scalars[0] = 0;   // the weights stay
    random_numbers random(5);
    doubles x = random.fill({2, 4, 5}, -1, 1);
    const doubles n({2, 1}, std::vector<double>{2, 4}), ones({2, 4, 5}, 1.);
    p->run(2, {x, n, ones});
    const auto y = p->output(0, 2);
    for (int i = 10; i < 20; ++i) x[i] = 5;   // the first example's third and fourth row, which nobody may look at
    p->run(2, {x, n, ones});
    const auto z = p->output(0, 2);
    BOOST_TEST(y == z);
}

/// Queries and keys turned by their places, two heads of width 2: complex numbers times e^(i t).
BOOST_AUTO_TEST_CASE(rotated_by_their_places) {
    constexpr attention_settings s{.causal = causal::yes, .bias = bias::no, .rotary = true,
                                   .pairs = position_pairs::neighbours};
    check_net<programs::fused_only, 2>(array<3, 4> >> multi_head_attention<2, s>, [](const auto& p, const auto& x) {
        const int batch = x[0].d[0];
        auto times = [&](const doubles& a, const doubles& w) {
            doubles y({batch, 3, 4});
            for (int i = 0; i < y.size(); ++i)
                for (int k = 0; k < 4; ++k) y[i] += a[i / 4 * 4 + k] * w[k * 4 + i % 4];
            return y;
        };
        auto rotate = [](doubles a) {
            for (int i = 0; i < a.size(); i += 2) {
                const std::complex<double> z =
                    std::complex(a[i], a[i + 1]) * std::polar(1., static_cast<double>(i / 4 % 3));
                a[i] = z.real(), a[i + 1] = z.imag();
            }
            return a;
        };
        const attention_case c{
            .heads = 2, .groups = 2, .queries = 3, .keys = 3, .width = 2, .value_width = 2, .mask = causal::yes,
            .axis = false};
        return std::vector{
            times(plain_attention(c, rotate(times(x[0], p[0])), rotate(times(x[0], p[1])), times(x[0], p[2])).y, p[3])};
    });
}
