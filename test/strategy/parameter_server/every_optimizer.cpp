// SPDX-License-Identifier: BSL-1.0
// shows servers: every optimizer on three servers has a trainer's bits
// weighs: 3
// also: sse2 avx2 avx512
// Every optimizer of the library on three servers: their stretches of parameters and slots, updated
// by the optimizer's kernels alone, have the very bits of a trainer's after each of five steps,
// given the same gradients.
#define BOOST_TEST_MODULE every_optimizer
#include <boost/test/unit_test.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/train/optimizers/adadelta.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/adamax.hpp>
#include <sinter/train/optimizers/amsgrad.hpp>
#include <sinter/train/optimizers/averaged_momentum.hpp>
#include <sinter/train/optimizers/ftrl.hpp>
#include <sinter/train/optimizers/heavy_ball.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/lion.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/nadam.hpp>
#include <sinter/train/optimizers/nesterov.hpp>
#include <sinter/train/optimizers/proximal_adagrad.hpp>
#include <sinter/train/optimizers/rmsprop.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/check_shards.hpp"

using namespace sinter;
using namespace sinter::test;

namespace {
constexpr auto net = features<12> >> dense<33> >> relu >> dense<9> >> relu >> dense<3>;

/// A user's own, as examples/custom_optimizer.cpp has it.
struct own {
    schedule learning_rate = 1e-2f;
    float beta1 = 0.9f, beta2 = 0.99f, weight_decay = 0.01f;
    static constexpr int slots = 1, n_scalars = 4;
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient(), m = u.slot(0);
        const tensor rate = u.scalar(0), b1 = u.scalar(1), b2 = u.scalar(2), decay = u.scalar(3);
        const tensor direction = m * b1 + g * (1.f - b1);
        const tensor sign = greater(direction, 0.f) - greater(-direction, 0.f);
        u.set_parameter(p - (sign + p * decay) * rate);
        u.set_slot(0, m * b2 + g * (1.f - b2));
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = beta1;
        out[2] = beta2;
        out[3] = weight_decay;
    }
};
} // namespace

BOOST_AUTO_TEST_CASE(alone) {
    check_shards(net, sgd{.learning_rate = 0.1f}, "sgd");
    check_shards(net, momentum{.learning_rate = 0.1f}, "momentum");
    check_shards(net, nesterov{.learning_rate = 0.1f}, "nesterov");
    check_shards(net, heavy_ball{.learning_rate = 0.1f}, "heavy_ball");
    check_shards(net, averaged_momentum{.learning_rate = 0.1f}, "averaged_momentum");
    check_shards(net, adam{.learning_rate = 0.01f, .weight_decay = 0.1f}, "adam");
    check_shards(net, adamw{.learning_rate = 0.01f}, "adamw");
    check_shards(net, adamax{}, "adamax");
    check_shards(net, amsgrad{}, "amsgrad");
    check_shards(net, nadam{}, "nadam");
    check_shards(net, adagrad{}, "adagrad");
    check_shards(net, proximal_adagrad{}, "proximal_adagrad");
    check_shards(net, adadelta{}, "adadelta");
    check_shards(net, rmsprop{}, "rmsprop");
    check_shards(net, rmsprop_momentum{}, "rmsprop_momentum");
    check_shards(net, centred_rmsprop{}, "centred_rmsprop");
    check_shards(net, centred_rmsprop_momentum{}, "centred_rmsprop_momentum");
    check_shards(net, ftrl{}, "ftrl");
    check_shards(net, sinter::lion{}, "lion");
    check_shards(net, lamb{.weight_decay = 0.1f}, "lamb");
    check_shards(net, own{}, "a user's own");
}
