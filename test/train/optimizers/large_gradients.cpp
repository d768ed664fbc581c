// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE large_gradients
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/adadelta.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/adamax.hpp>
#include <sinter/train/optimizers/amsgrad.hpp>
#include <sinter/train/optimizers/ftrl.hpp>
#include <sinter/train/optimizers/lion.hpp>
#include <sinter/train/optimizers/nadam.hpp>
#include <sinter/train/optimizers/proximal_adagrad.hpp>
#include <sinter/train/optimizers/rmsprop.hpp>
#include <cmath>

// Gradients up to 1e18 train as small ones do, where the step does not depend on their size. Of larger
// ones floats have no squares: training says so at the end of the pass, and nothing is frozen unseen.
using namespace sinter;

namespace {

/// A loss whose gradient is the target, whatever the prediction.
constexpr auto slope = [](tensor y, tensor t) { return y * t; };
constexpr auto net = features<1> >> dense_layer<1, bias::no>{};

template <class Optimizer>
double moved(Optimizer o, float gradient, int steps) {
    estimator m{net, slope, o, trainer_options{.threads = 1}};
    const float start = 0.5f;
    m.inner().set_plain(m.inner().parameter(0), &start);
    auto data = data::dataset(extents(1), std::vector<float>(static_cast<std::size_t>(steps), 1.f))
                    .targets(extents(1), std::vector<float>(static_cast<std::size_t>(steps), gradient)) |
                    data::batch(1);
    m.train(data, {.progress = nullptr});
    return static_cast<double>(m.inner().plain(m.inner().parameter(0))[0]) - 0.5;
}
template <class Optimizer>
void check(Optimizer o, const char* name, bool squares = true) {
    const double small = moved(o, 1e6f, 3), large = moved(o, 1e18f, 3);
    BOOST_TEST(small != 0, name);
    BOOST_TEST(large == small, name << boost::test_tools::tolerance(1e-3));
    if (!squares) {
        BOOST_TEST(moved(o, 1e25f, 3) == small, name << boost::test_tools::tolerance(1e-3));
        return;
    }
    for (const float beyond : {1e20f, 1e30f})
        for (const int steps : {1, 3})
            check_error<data_error>([&] { moved(o, beyond, steps); }, "is not finite", "dense/kernel", "", "");
}

} // namespace

BOOST_AUTO_TEST_CASE(adaptive_steps) {
    check(adam{.learning_rate = 0.01f}, "adam");
    check_error<data_error>([&] { moved(adagrad{}, 1e20f, 1); }, "what the optimizer remembers", "slot 0", "inf",
                            "1.8e19");
    check(adamw{.learning_rate = 0.01f}, "adamw");
    check(amsgrad{.learning_rate = 0.01f}, "amsgrad");
    check(nadam{.learning_rate = 0.01f}, "nadam");
    check(rmsprop{.learning_rate = 0.01f}, "rmsprop");
    check(adagrad{.learning_rate = 0.01f}, "adagrad");
    check(proximal_adagrad{.learning_rate = 0.01f}, "proximal_adagrad");
    check(adadelta{.learning_rate = 1.f}, "adadelta");
    check(ftrl{.learning_rate = 0.01f}, "ftrl");
    check(adamax{.learning_rate = 0.01f}, "adamax", false);
    check(lion{.learning_rate = 0.01f}, "lion", false);
}
