// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE conv1d
#include <boost/test/unit_test.hpp>

#include <sinter/ops/conv1d.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, shape W, window O = window{}>
struct op_of {
    static constexpr shape operands[] = {X, W};
    static constexpr tensor apply(tensor x, tensor w) { return ops::conv1d(x, w, O); }
    static doubles reference(const doubles& x, const doubles& w) { return convolution(x, w, O); }
};
template <class Case>
void check() {
    check_op<Case, programs::fused_only, 4>();
}
BOOST_AUTO_TEST_CASE(by_the_dense_kernels) {
    check_op<op_of<batch_of(7, 3), packed(extents(3, 3, 5))>, programs::all, 4>();
    check<op_of<batch_of(9, 2), packed(extents(4, 2, 3)), window{.stride = 2, .padding = padding::causal}>>();
}
BOOST_AUTO_TEST_CASE(by_the_general_ones) {
    check<op_of<batch_of(9, 4), packed(extents(2, 2, 6)),
                window{.padding = padding::causal, .dilation = 3, .groups = 2}>>();
}

/// Nothing of a causal convolution's result changes with what comes later.
BOOST_AUTO_TEST_CASE(causal_results_do_not_see_the_future) {
    using net = op_net<op_of<batch_of(6, 1), extents(3, 1, 1), window{.padding = padding::causal}>>;
    const auto p = make_run<net, weighted_sum, as_fused, 1>();
    std::vector<float> before;
    for (const double last : {0., 100.}) {
        for (const auto& v : p->parameters) p->set(v, doubles({v.s.size()}, 1.));   // a run updates them
        p->run(1, {doubles({1, 6, 1}, {1, 2, 3, 4, 5, last}), doubles({1, 6, 1}, 1.)});
        const auto y = p->output(0, 1);
        if (last == 0) before = y;
        else
            BOOST_TEST(std::vector<float>(y.begin(), y.begin() + 5) ==
                       std::vector<float>(before.begin(), before.begin() + 5), boost::test_tools::per_element());
    }
    BOOST_TEST(before == (std::vector<float>{1, 3, 6, 9, 12, 9}), boost::test_tools::per_element());
}
