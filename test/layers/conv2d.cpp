// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE conv2d
#include <boost/test/unit_test.hpp>

#include <sinter/layers/conv2d.hpp>
#include <sinter/expr/input.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

doubles with_bias(const doubles& y, const doubles& b) {
    return map(y, b, [](double p, double q) { return p + q; });
}
BOOST_AUTO_TEST_CASE(one_behind_the_other) {
    constexpr auto net = image<5, 6, 2> >> conv2d<3, 3> >> conv2d<4, 2, by_two_valid, bias::no>;
    check_net(net, [](const auto& p, const auto& x) {
        return std::vector{convolution(with_bias(convolution(x[0], p[0], {}), p[1]), p[2], by_two_valid)};
    });
}
BOOST_AUTO_TEST_CASE(names_and_shapes) {
    const auto p =
        make_run<decltype(image<9, 8, 2> >> conv2d<3, 5> >> conv2d<4, 3, by_two>), weigh_outputs, as_trained>();
    BOOST_TEST(p->paths == (std::vector<std::string>{"conv2d/kernel", "conv2d/bias", "conv2d_1/kernel",
                                                     "conv2d_1/bias"}), boost::test_tools::per_element());
    BOOST_TEST(extents_with(p->parameters[0].s, 0) == (std::vector<int>{5, 5, 2, 3}), boost::test_tools::per_element());
    BOOST_TEST(extents_with(p->outputs[0], 1) == (std::vector<int>{1, 5, 4, 4}), boost::test_tools::per_element());
}
