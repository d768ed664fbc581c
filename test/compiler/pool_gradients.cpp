// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pool_gradients
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/tanh.hpp>

#include "compiler/interpret.hpp"

/// A convolution's gradients read the pooled gradient and its winners where the pool lies directly behind, and mean the
/// same as before; where that pool's windows overlap, say, they only know of the zeros, elsewhere
/// they stay as they are.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// Gradients that read winners, and that only know that most of what they read is zero.
struct changes {
    int read_winners = 0, know_zeros = 0;
};
/// conv, then `behind`; what becomes of gradients, after a check that all values stay.
template <class F>
static changes changed(F behind, window conv = {}) {
    passes p;
    graph& g = p.g;
    const tensor x = input(g, batch_of(7, 6, 2));
    // two convolutions, so that the second has an input gradient
    const tensor first = ops::tanh(ops::conv2d(x, weights(x, "a", extents(3, 3, 2, 2), zeros)));
    const tensor y = behind(ops::conv2d(first, weights(x, "b", extents(3, 3, 2, 3), zeros), conv));
    tensor l = ops::reshape(y * y, extents(y.shape().size()));
    g.loss = ops::sum(ops::sum(l, {-1}), {batch_axis}).id;
    surroundings o;
    o.batch = 2;
    auto noise = [n = 0](int size) mutable {
        numbers v;
        for (int i = 0; i < size; ++i, ++n) v.push_back(std::sin(1.3 * n) * std::cos(0.7 * n * n));
        return v;
    };
    o.ports = {noise(2 * 84)};
    o.parameters = {noise(36), noise(54)};
    p.differentiate_all();
    const auto before = evaluate(g.n, o);
    pool_gradients({g.n.p, g.n.n});
    const auto after = evaluate(g.n, o);
    changes n;
    for (int i = 0; i < g.n.n; ++i) {
        const node& v = g.n[i];
        n.read_winners += v.operands == 3;
        n.know_zeros += (v.k == op::conv_input_gradient || v.k == op::conv_weight_gradient) && v.operands == 2 &&
            v.p[5] != 0;
    }
    for (int i = 0; i < p.gradients.n; ++i)
        BOOST_TEST(before[p.gradients[i]] == after[p.gradients[i]], boost::test_tools::per_element());
    return n;
}
template <class F>
static int rewritten(F behind, window conv = {}) {
    const changes n = changed(behind, conv);
    BOOST_TEST(n.know_zeros == 0);
    return n.read_winners;
}
template <class F>
static int told_of_zeros(F behind, window conv = {}) {
    const changes n = changed(behind, conv);
    BOOST_TEST(n.read_winners == 0);
    return n.know_zeros;
}
static tensor pool(tensor t, int k, window w) { return ops::max_pool(t, k, w); }

BOOST_AUTO_TEST_CASE(pool_directly_behind) {
    BOOST_TEST(rewritten([](tensor y) { return pool(y, 2, {2, padding::valid}); }) == 2);
    BOOST_TEST(rewritten([](tensor y) { return pool(y, 3, {3, padding::valid}); }) == 2);   // the last row falls away
}
BOOST_AUTO_TEST_CASE(overlapping_windows_leave_zeros) {
    BOOST_TEST(told_of_zeros([](tensor y) { return pool(y, 3, {2, padding::valid}); }) == 2);
    BOOST_TEST(told_of_zeros([](tensor y) { return pool(y, 3, {2, padding::same}); }) == 2);
    BOOST_TEST(told_of_zeros([](tensor y) { return pool(y, 3, {1, padding::same}); }) == 0);   // hardly any
}
BOOST_AUTO_TEST_CASE(strided_convolutions_know_zeros_of_weights_gradients) {
    BOOST_TEST(told_of_zeros([](tensor y) { return pool(y, 2, {2, padding::valid}); }, {.stride = 2}) == 1);
}
BOOST_AUTO_TEST_CASE(an_activation_between_stays) {
    BOOST_TEST(rewritten([](tensor y) { return pool(ops::tanh(y), 2, {2, padding::valid}); }) == 0);
}
BOOST_AUTO_TEST_CASE(a_convolution_with_other_users_stays) {
    BOOST_TEST(rewritten([](tensor y) {
        return ops::sum(pool(y, 2, {2, padding::valid}), {0, 1}) + ops::sum(y * y, {0, 1});
    }) == 0);
}
BOOST_AUTO_TEST_CASE(average_pools_stay) {
    BOOST_TEST(rewritten([](tensor y) { return ops::avg_pool(y, 2, {2, padding::valid}); }) == 0);
}
