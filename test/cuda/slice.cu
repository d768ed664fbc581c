// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include "cuda/device_part.hpp"
#include <iostream>
#include <sinter/ops/attention.hpp>
#include <sinter/strategy/mirrored.hpp>

// The MLP and the quickstart net on a GPU beside PyTorch and beside the processor. Without a GPU
// they are compiled and linked, which the test says in a line that ctest looks for; what their
// kernels compute is then only known from the rehearsal.
using namespace sinter;

template <class Net, class Optimizer>
static void check(Net net, Optimizer optimizer, const double (&expected)[20]) {
    if (const std::string why = test::missing_gpu(); !why.empty()) {
        std::cout << "skipped: compiled and linked, but not run on a GPU: " << why << std::endl;
        BOOST_CHECK_THROW((trainer<Net, softmax_cross_entropy_loss, Optimizer, 64, single<cuda_device>>(optimizer)),
                          device_error);
        return;
    }
    const test::comparison c = test::compare_losses(net, optimizer, expected);
    BOOST_TEST(c.worst <= 1e-4, "step " << c.step << ": off by " << c.worst);
    BOOST_TEST(c.repeats);
}
BOOST_AUTO_TEST_CASE(mlp_sgd) { check(test::mlp, sgd{.learning_rate = 0.05f}, fixture::pytorch::mlp_sgd); }
BOOST_AUTO_TEST_CASE(mlp_adam) { check(test::mlp, adam{}, fixture::pytorch::mlp_adam); }
BOOST_AUTO_TEST_CASE(quickstart_sgd) { check(test::quickstart, sgd{.learning_rate = 0.05f}, test::quickstart_sgd); }
BOOST_AUTO_TEST_CASE(quickstart_adam) { check(test::quickstart, adam{}, test::quickstart_adam); }

// Attention's kernels on a GPU: the loss falls, and a second run gives the same bits. (The
// processor's cannot stand beside them for comparison: nvcc does not compile those.)
constexpr auto attentive = array<70, 6> >> [](tensor in) {
    const tensor x = dense<12>(in), by_place = parameter(x, "by_place", extents(4, 70, 70), zeros);
    const tensor y = attention(x, x, x, {.heads = 4, .causal = causal::yes, .bias = by_place, .dropout = 0.25f});
    return ops::mean(dense<10>(y), {0});
};
template <class Net>
static void check_that_it_learns(Net) {
    using model = trainer<Net, softmax_cross_entropy_loss, adam, 4, single<cuda_device>>;
    if (!test::missing_gpu().empty()) {
        BOOST_CHECK_THROW(model(adam{}), device_error);
        return;
    }
    std::vector<float> x(4 * 420);
    random_stream random(7);
    for (float& v : x) v = random.normal();
    const std::int32_t labels[] = {3, 1, 4, 1};
    const data::batch_view batch{.x = x.data(), .labels = labels, .size = 4};
    model first(adam{.learning_rate = 0.01f}), again(adam{.learning_rate = 0.01f});
    float loss[20];
    for (float& l : loss) {
        l = first.step(batch);
        BOOST_TEST(l == again.step(batch));
    }
    BOOST_TEST(loss[19] < loss[0]);
}
BOOST_AUTO_TEST_CASE(attention_learns_and_repeats) { check_that_it_learns(attentive); }

// Two replicas whose gradients the GPUs add up themselves. Where there is one GPU it has both.
struct two_replicas : mirrored<2, cuda_device> {
    cuda_device::options device_options(int i) const {
        int n = 0;
        (void)cudaGetDeviceCount(&n);
        return {n > 1 ? i : 0};
    }
};
template <class Net>
static void check_two_replicas(Net net) {
    using one = trainer<Net, softmax_cross_entropy_loss, adam, 4, single<cuda_device>>;
    using two = trainer<Net, softmax_cross_entropy_loss, adam, 4, two_replicas>;
    if (!test::missing_gpu().empty()) {
        BOOST_CHECK_THROW(two(adam{}), device_error);
        return;
    }
    std::vector<float> x(4 * 784);
    random_stream random(8);
    for (float& v : x) v = random.normal();
    const std::int32_t labels[] = {3, 1, 4, 1};
    one a(adam{.learning_rate = 0.01f});
    two b(adam{.learning_rate = 0.01f});
    for (const int size : {4, 4, 1, 3, 4}) {   // a batch of one leaves a replica without examples
        const data::batch_view batch{.x = x.data(), .labels = labels, .size = size};
        const float wanted = a.step(batch);
        BOOST_TEST(std::abs(b.step(batch) - wanted) <= 1e-4f * std::abs(wanted), "a batch of " << size);
    }
}
BOOST_AUTO_TEST_CASE(replicas_on_gpus) { check_two_replicas(test::mlp); }

// (Types with numbers of class types are not spelled here: nvcc 13 loses such numbers outside of templates.)
BOOST_AUTO_TEST_CASE(estimator_under_a_strategy) {
    using on_gpu = decltype(estimator{test::mlp, softmax_cross_entropy, adam{}, single<cuda>{}});
    static_assert(std::is_same_v<on_gpu::trainer_type::strategy_type, single<cuda_device>> &&
                  on_gpu::trainer_type::max_batch() == 64);
    using small =
        decltype(trainer{test::mlp, softmax_cross_entropy, adam{}, max_batch<16>, single<cuda_device>{}, {.seed = 2}});
    static_assert(std::is_same_v<small::strategy_type, single<cuda_device>> && small::max_batch() == 16);
    BOOST_TEST(on_gpu::bytes() > 0);
}
