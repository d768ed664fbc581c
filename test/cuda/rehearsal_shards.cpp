// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal_shards
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/losses/weighted.hpp>

#include "cuda/as_on_cpu.hpp"
#include "support/on_shard.hpp"

// Steps on a shard of a global batch: kernels for GPUs, run by the host, read the shard, the global
// batch and the weights of all shards where the CPU's do.
using namespace sinter;
using namespace sinter::test;

namespace {

const std::vector<float> x = examples(16, 8).x, targets = examples(16, 3).x, weights{0.5f, 1, 2, 0, 1, 3, 0.25f, 1};
const std::vector<std::int32_t> labels{0, -1, 2, 1, 1, -1, 0, 2};

template <bool Labels, bool Targets, bool Weights>
data::batch_view batch_of_eight() {
    data::batch_view b{.x = x.data(), .size = 8};
    if (Labels) b.labels = labels.data();
    if (Targets) b.y = targets.data();
    if (Weights) b.weights = weights.data();
    return b;
}

/// Three steps on shards 0 to 2 of a global batch of 30, whose weights are 20 and 25.
template <class Net, class Loss>
void on_shards(Net, Loss, const data::batch_view& b) {
    trainer<Net, Loss, sgd, 8, single<on_shard<cpu_device>>> here(sgd{.learning_rate = 0.5f}, {.threads = 1});
    trainer<Net, Loss, sgd, 8, single<on_shard<rehearsal_device>>> there(sgd{.learning_rate = 0.5f});
    trainer<Net, Loss, sgd, 8> undivided(sgd{.learning_rate = 0.5f}, {.threads = 1});
    const float all[] = {20, 25};
    float last = 0;
    for (std::uint64_t shard = 0; shard < 3; ++shard) {
        current_shard = {.index = shard, .global_batch = 30, .loss_weights = all};
        const float a = here.step(b), c = there.step(b);
        BOOST_TEST(close(a, c), "shard " << shard << ": the CPU's loss " << a << ", the GPU's kernels' " << c);
        last = undivided.step(b);
        BOOST_TEST(!close(a, last));
    }
    for (int i = 0; i < here.parameters(); ++i) {
        const auto a = here.plain(here.parameter(i)), c = there.plain(there.parameter(i));
        for (std::size_t k = 0; k < a.size(); ++k) BOOST_TEST(close(a[k], c[k]));
    }
    const float a = here.evaluate(b), c = there.evaluate(b);
    BOOST_TEST(close(a, c));
}

constexpr auto net = features<8> >> dense<6> >> relu >> dropout<0.25f> >> dense<3>;
constexpr auto two = features<8> >> [](tensor in) { return outputs(dense<3>(in), dense<3>(in)); };
constexpr auto ignoring = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(-1)>;

} // namespace

BOOST_AUTO_TEST_CASE(means) {
    on_shards(net, mse, batch_of_eight<false, true, false>());
    on_shards(net, [](tensor y, tensor t) { return mean((y - t) * (y - t), {batch_axis, 0}); },
              batch_of_eight<false, true, false>());
}
BOOST_AUTO_TEST_CASE(weighted_means) {
    on_shards(net, ignoring, batch_of_eight<true, false, false>());
    on_shards(net, weighted(mse), batch_of_eight<false, true, true>());
    on_shards(two, per_output(ignoring, [](tensor y, tensor t) { return weighted_values((y - t) * (y - t), t * t); }),
              batch_of_eight<true, true, false>());
}
