// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE dropout
#include <boost/test/unit_test.hpp>

#include <sinter/layers/dropout.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/expr/input.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr auto scale = [](tensor x) { return x * parameter(x, "scale", extents(300), ones); };
constexpr auto net = features<300> >> scale >> dropout<0.25f>;

struct draws_of {
    std::vector<float> y, gradient;
};
template <program_mode Mode = program_mode::training, program_options O = as_fused>
draws_of draw(std::uint64_t seed, std::int64_t step) {
    const auto p = make_run<decltype(net), weigh_outputs, O, 5, Mode>();
    p->seed = seed;
    p->run(4, {doubles({4, 300}, 1.), doubles({4, 300}, 1.)}, step);
    return {p->output(0, 4), Mode == program_mode::training ? p->gradient(0) : std::vector<float>{}};
}

BOOST_AUTO_TEST_CASE(keeps_some_and_scales_them) {
    const draws_of r = draw(1, 0);
    int kept = 0;
    for (float y : r.y) {
        BOOST_REQUIRE((y == 0 || std::abs(y - 1 / 0.75f) < 1e-6f));
        kept += y != 0;
    }
    BOOST_TEST(std::abs(kept - 0.75 * 1200) < 4 * std::sqrt(0.75 * 0.25 * 1200));
}
BOOST_AUTO_TEST_CASE(the_same_mask_in_backward) {
    const draws_of r = draw(1, 3);
    doubles want({300});
    for (int i = 0; i < 1200; ++i) want[i % 300] += r.y[static_cast<std::size_t>(i)] / 4;
    check_close(r.gradient, want, 1e-6, "gradient");
    const draws_of u = draw<program_mode::training, as_unfused>(1, 3);
    BOOST_TEST((u.y == r.y));
    check_close(u.gradient, want, 1e-6, "gradient");
}
BOOST_AUTO_TEST_CASE(depends_on_seed_and_step_alone) {
    BOOST_TEST((draw(5, 7).y == draw(5, 7).y));
    BOOST_TEST((draw(5, 7).y != draw(5, 8).y));
    BOOST_TEST((draw(5, 7).y != draw(6, 7).y));
}
BOOST_AUTO_TEST_CASE(nothing_outside_training) {
    for (float y : draw<program_mode::evaluation>(1, 0).y) BOOST_TEST(y == 1);
    const auto p = make_run<decltype(net), weigh_outputs, as_fused, 5, program_mode::prediction>();
    p->run(2, {doubles({2, 300}, 1.)});
    for (float y : p->output(0, 2)) BOOST_TEST(y == 1);
}
BOOST_AUTO_TEST_CASE(two_layers_two_masks) {
    constexpr auto two = [](tensor x) { return outputs(dropout<0.5f>(x), dropout<0.5f>(x)); };
    const auto p = make_run<decltype(features<300> >> scale >> two), weigh_outputs, as_fused>();
    p->run(1, {doubles({1, 300}, 1.), doubles({1, 300}, 1.), doubles({1, 300}, 1.)});
    BOOST_TEST((p->output(0, 1) != p->output(1, 1)));
}
