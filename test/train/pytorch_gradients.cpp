// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pytorch_gradients
#include <boost/test/unit_test.hpp>

#include <sinter/layers/norm.hpp>
#include <sinter/ops/softmax.hpp>

#include "fixtures/pytorch_ops.hpp"
#include "train/losses/loss_run.hpp"

// What passes back through a layer to what it was given, as training hands it on, against PyTorch's record.
using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::pytorch;

template <std::size_t N>
static doubles list(const double (&x)[N], std::vector<int> d) {
    return doubles(std::move(d), std::vector<double>(x, x + N));
}
/// The layer behind a parameter that is added to its input; all rows are one example, so that each
/// has a gradient of its own. Parameter 0 is the offset, the layer's own follow.
template <program_options O, int... D, class Layer>
static std::unique_ptr<program_run> behind_an_offset(Layer) {
    auto p = make_run<decltype(array<D...> >> offset_layer<D...>{} >> Layer{}), weigh_outputs, O, 1>();
    p->scalars[0] = 0;   // nothing is updated
    return p;
}

/// Two steps, the running statistics in between.
template <program_options O>
static void batch_norm_steps() {
    const auto p = behind_an_offset<O, 6, 3>(batch_norm_with<0.9, 1e-5>);
    p->set(p->parameters[1], list(golden::batch_norm_gamma, {3}));
    p->set(p->parameters[2], list(golden::batch_norm_beta, {3}));
    const auto check = [&](const auto& x, const auto& dy, const auto& y, const auto& dx, const auto& dgamma,
                           const auto& dbeta) {
        p->run(1, {list(x, {1, 6, 3}), list(dy, {1, 6, 3})});
        check_close(p->output(0, 1), list(y, {18}), 2e-6, "y");
        check_close(p->gradient(0), list(dx, {6, 3}), 4e-6, "x");
        check_close(p->gradient(1), list(dgamma, {3}), 4e-6, "gamma");
        check_close(p->gradient(2), list(dbeta, {3}), 4e-6, "beta");
    };
    check(golden::batch_norm_step1_x, golden::batch_norm_step1_dy, golden::batch_norm_step1_y,
          golden::batch_norm_step1_dx, golden::batch_norm_step1_dgamma, golden::batch_norm_step1_dbeta);
    check(golden::batch_norm_step2_x, golden::batch_norm_step2_dy, golden::batch_norm_step2_y,
          golden::batch_norm_step2_dx, golden::batch_norm_step2_dgamma, golden::batch_norm_step2_dbeta);
    check_close(p->value(p->states[0]), list(golden::batch_norm_running_mean, {3}), 2e-6, "running mean");
    check_close(p->value(p->states[1]), list(golden::batch_norm_running_variance_biased, {3}), 2e-6,
                "running variance");
}
BOOST_AUTO_TEST_CASE(through_batch_norm) {
    batch_norm_steps<as_fused>();
    batch_norm_steps<as_unfused>();
}

template <program_options O>
static void layer_norm_step() {
    const auto p = behind_an_offset<O, 4, 6>(layer_norm);
    p->set(p->parameters[1], list(golden::layer_norm_gamma, {6}));
    p->set(p->parameters[2], list(golden::layer_norm_beta, {6}));
    p->run(1, {list(golden::layer_norm_x, {1, 4, 6}), list(golden::layer_norm_dy, {1, 4, 6})});
    check_close(p->gradient(0), list(golden::layer_norm_dx, {4, 6}), 4e-6, "x");
    check_close(p->gradient(1), list(golden::layer_norm_dgamma, {6}), 4e-6, "gamma");
    check_close(p->gradient(2), list(golden::layer_norm_dbeta, {6}), 4e-6, "beta");
}
BOOST_AUTO_TEST_CASE(through_layer_norm) {
    layer_norm_step<as_fused>();
    layer_norm_step<as_unfused>();
}

struct softmax_of {
    constexpr tensor operator()(tensor x) const { return ops::softmax(x); }
};
template <program_options O>
static void softmax_step() {
    const auto p = behind_an_offset<O, 4, 5>(softmax_of{});
    p->run(1, {list(golden::log_softmax_x, {1, 4, 5}), list(golden::log_softmax_dy, {1, 4, 5})});
    check_close(p->output(0, 1), list(golden::softmax_y, {20}), 2e-6, "y");
    check_close(p->gradient(0), list(golden::softmax_dx, {4, 5}), 4e-6, "x");
}
BOOST_AUTO_TEST_CASE(through_softmax) {
    softmax_step<as_fused>();
    softmax_step<as_unfused>();
}
