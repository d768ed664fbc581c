// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE optimizer_code
#include <boost/test/unit_test.hpp>

#include <sinter/ops/maximum.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "compiler/evaluate.hpp"

/// An optimizer's code, run instruction by instruction on one element, against the formula written out.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct element {
    double p, g, slot[2] = {};
    double norm = 0;   ///< sum of the squares of all gradients
};
static element run(const optimizer_code& c, element x, const float* scalars) {
    std::vector<double> r(static_cast<std::size_t>(c.instructions));
    element y = x;
    auto at = [&](element& e, int operand) -> double& {
        return operand == 0 ? e.p : operand == 1 ? e.g : operand == norm_operand ? e.norm : e.slot[operand - 2];
    };
    for (int i = 0; i < c.instructions; ++i) {
        const instruction w = instruction::unpack(c.code[i]);
        if (w.is(opcode::load)) r[i] = at(x, c.operand[w.arg]);
        else if (w.is(opcode::store)) at(y, c.operand[w.arg]) = r[w.a];
        else if (w.is(opcode::literal)) r[i] = static_cast<double>(c.constants[w.arg]);
        else if (w.is(op::runtime_scalar)) r[i] = static_cast<double>(scalars[w.arg]);
        else r[i] = elementwise(static_cast<op_id>(w.code), r[w.a], r[w.b], r[w.c()], surroundings{});
    }
    return y;
}
template <class O>
static element steps(const O& o, int n) {
    static constexpr optimizer_code c = make_optimizer_code<O>();
    static_assert(c.fits && c.slots == O::slots && c.sums == 0);
    element x{.p = 1.5, .g = 0};
    for (int s = 0; s < n; ++s) {
        float scalars[16] = {};
        o.scalars(s, scalars);
        x.g = 0.5 + 0.25 * s;
        x.norm = 16 * x.g * x.g;
        x = run(c, x, scalars);
    }
    return x;
}
static const auto near = boost::test_tools::tolerance(1e-6);

BOOST_AUTO_TEST_CASE(sgd_with_decay) {
    double p = 1.5;
    for (int s = 0; s < 3; ++s) p -= 0.1 * (0.5 + 0.25 * s + 0.01 * p);
    BOOST_TEST(steps(sgd{.learning_rate = 0.1f, .weight_decay = 0.01f}, 3).p == p, near);
}
BOOST_AUTO_TEST_CASE(momentum_keeps_its_velocity) {
    double p = 1.5, v = 0;
    for (int s = 0; s < 3; ++s) v = 0.9 * v + 0.5 + 0.25 * s, p -= 0.1 * v;
    const element e = steps(momentum{.learning_rate = 0.1f}, 3);
    BOOST_TEST(e.p == p, near);
    BOOST_TEST(e.slot[0] == v, near);
}
static double adam_by_hand(int steps, double rate, double decay) {
    double p = 1.5, m = 0, v = 0;
    for (int s = 0; s < steps; ++s) {
        const double g = 0.5 + 0.25 * s;
        p -= rate * decay * p;
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        p -= rate * m / (1 - std::pow(0.9, s + 1)) / (std::sqrt(v / (1 - std::pow(0.999, s + 1))) + 1e-8);
    }
    return p;
}
BOOST_AUTO_TEST_CASE(adam_and_adamw) {
    BOOST_TEST(steps(adam{.learning_rate = 0.01f, .epsilon = 1e-8f}, 4).p == adam_by_hand(4, 0.01, 0),
               boost::test_tools::tolerance(1e-5));
    BOOST_TEST(steps(adamw{.learning_rate = 0.01f, .weight_decay = 0.1f}, 4).p == adam_by_hand(4, 0.01, 0.1),
               boost::test_tools::tolerance(1e-5));
}
BOOST_AUTO_TEST_CASE(clipping_scales_what_the_optimizer_sees) {
    double p = 1.5;
    for (int s = 0; s < 3; ++s) {
        const double g = 0.5 + 0.25 * s;
        p -= 0.1 * g * std::min(1., 1 / (4 * g + 1e-6));
    }
    const clip_by_global_norm<sgd> o{1.f, {.learning_rate = 0.1f}};
    BOOST_TEST(steps(o, 3).p == p, near);
    BOOST_TEST(make_optimizer_code<clip_by_global_norm<sgd>>().view().needs_norm());
    BOOST_TEST(!make_optimizer_code<sgd>().view().needs_norm());
}

/// Results that are no computed values of their own: the gradient kept as it is, one value in two places, a constant.
struct keeps_the_gradient {
    static constexpr int slots = 2, n_scalars = 1;
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter() - (u.gradient() + u.slot(0)) * u.scalar(0);
        u.set_parameter(p);
        u.set_slot(0, u.gradient());
        u.set_slot(1, p);
    }
    void scalars(std::int64_t, float* out) const { out[0] = 0.5f; }
};
BOOST_AUTO_TEST_CASE(any_value_may_be_kept) {
    const element e = steps(keeps_the_gradient{}, 2);
    const double first = 1.5 - 0.5 * 0.5, second = first - (0.75 + 0.5) * 0.5;
    BOOST_TEST(e.p == second, near);
    BOOST_TEST(e.slot[0] == 0.75, near);
    BOOST_TEST(e.slot[1] == second, near);
}

struct too_long {
    static constexpr int slots = 0, n_scalars = 0;
    static constexpr void update(update_context& u) {
        tensor p = u.parameter();
        for (int i = 0; i < 60; ++i) p = p - u.gradient() * ops::maximum(p, static_cast<float>(i));
        u.set_parameter(p);
    }
};
BOOST_AUTO_TEST_CASE(what_is_too_long_for_one_kernel_says_so) { BOOST_TEST(!make_optimizer_code<too_long>().fits); }
