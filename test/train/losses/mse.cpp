// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE mse
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/mse.hpp>

#include "train/losses/loss_run.hpp"

using namespace sinter;
using namespace sinter::test;

static loss_and_gradient reference(const doubles& y, const doubles& t) {
    loss_and_gradient r{0, doubles(y.d)};
    for (int i = 0; i < y.size(); ++i) {
        const double d = y[i] - t[i];
        r.loss += d * d / y.size();
        r.gradient[i] = 2 * d / y.size();
    }
    return r;
}

BOOST_AUTO_TEST_CASE(one_number_an_example) {
    check_loss<mse_loss, 1>(doubles({3, 1}, {1, 2, -4}), doubles({3, 1}, {1, 5, 1}),
                            [](const doubles& y, const doubles& t) {
        const loss_and_gradient r = reference(y, t);
        BOOST_TEST(r.loss == (y.d[0] == 1 ? 0 : y.d[0] == 2 ? 4.5 : 34. / 3), boost::test_tools::tolerance(1e-12));
        return r;
    });
}
BOOST_AUTO_TEST_CASE(the_mean_is_over_all_elements) {
    random_numbers random(7);
    const doubles y = random.fill({6, 3, 2, 7}, -2, 2), t = random.fill({6, 3, 2, 7}, -2, 2);
    check_loss<mse_loss, 3, 2, 7>(y, t, reference);
    check_loss_as<as_trained, mse_loss, 3, 2, 7>(y, t, reference);
}
BOOST_AUTO_TEST_CASE(extreme_differences) {
    check_loss<mse_loss, 2>(doubles({3, 2}, {1e4, -1e4, 3e-5, 0, 1e15, 1}),
                            doubles({3, 2}, {-1e4, 1e4, 0, -3e-5, -1e15, 1}), reference);
    check_loss<mse_loss, 2>(doubles({1, 2}, {3, -2}), doubles({1, 2}, {3, -2}), [](const doubles& y, const doubles& t) {
        const loss_and_gradient r = reference(y, t);
        BOOST_TEST(r.loss == 0);   // nothing left to learn
        return r;
    });
}

// A lambda of `auto`s is given tensors, as one that says `tensor` is.
BOOST_AUTO_TEST_CASE(written_with_auto) {
    using written = decltype([](auto y, auto t) { return mean((y - t) * (y - t), {-1}); });
    check_loss<written, 2>(doubles({3, 2}, {1, 2, -4, 3, 0, 1}), doubles({3, 2}, {1, 5, 1, 0, 2, 2}), reference);
}
