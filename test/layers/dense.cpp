// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE dense
#include <boost/test/unit_test.hpp>

#include <sinter/layers/dense.hpp>
#include <sinter/expr/input.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

doubles affine(const doubles& x, const doubles& w, const doubles* b) {
    const int k = w.d[0], n = w.d[1];
    auto d = x.d;
    d.back() = n;
    doubles y(d);
    for (int i = 0; i < y.size(); ++i) {
        y[i] = b ? (*b)[i % n] : 0;
        for (int t = 0; t < k; ++t) y[i] += x[i / n * k + t] * w[t * n + i % n];
    }
    return y;
}

BOOST_AUTO_TEST_CASE(of_vectors) {
    check_net(features<7> >> dense<5> >> dense<19>, [](const auto& p, const auto& x) {
        return std::vector{affine(affine(x[0], p[0], &p[1]), p[2], &p[3])};
    });
}
BOOST_AUTO_TEST_CASE(of_every_row_without_bias) {
    check_net(array<3, 4> >> dense<6, bias::no>,
              [](const auto& p, const auto& x) { return std::vector{affine(x[0], p[0], nullptr)}; });
}
BOOST_AUTO_TEST_CASE(of_the_last_axis_of_many) {   // what is refused: test/graph/fault.cpp
    check_net(array<2, 3, 4> >> dense<5>,
              [](const auto& p, const auto& x) { return std::vector{affine(x[0], p[0], &p[1])}; });
    check_net(array<2, 1, 2, 3, 4> >> dense<3>,
              [](const auto& p, const auto& x) { return std::vector{affine(x[0], p[0], &p[1])}; });
}
BOOST_AUTO_TEST_CASE(names_shapes_initial_values) {
    const auto p = make_run<decltype(features<7> >> dense<5> >> dense<300>), weigh_outputs, as_trained>();
    BOOST_TEST(p->paths == (std::vector<std::string>{"dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"}),
               boost::test_tools::per_element());
    BOOST_TEST(extents_with(p->parameters[2].s, 0) == (std::vector<int>{5, 300}), boost::test_tools::per_element());
    const double limit = std::sqrt(6. / 305);
    double largest = 0, mean = 0;
    for (float w : p->value(p->parameters[2])) largest = std::max(largest, std::abs(double{w})), mean += w / 1500;
    BOOST_TEST(largest <= limit);
    BOOST_TEST(largest > 0.95 * limit);
    BOOST_TEST(std::abs(mean) < 4 * limit / std::sqrt(3 * 1500.));
    for (float b : p->value(p->parameters[3])) BOOST_TEST(b == 0);
}
