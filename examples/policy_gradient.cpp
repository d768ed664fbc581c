// SPDX-License-Identifier: BSL-1.0
//
// REINFORCE (Williams 1992). Its loss is the cross-entropy of the actions that were taken, each
// weighted by its advantage: -(log_prob * advantage).mean() in PyTorch. Weights come with the batch
// and may be negative; averaged_over_batch divides by the number of examples, where a weighted mean
// would divide by the weights' sum. predict() takes 0.1 us for a net of this size, so acting one
// state at a time costs little.
#include <sinter/sinter.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <cmath>
#include <cstdio>
#include <random>
using namespace sinter;

// A corridor of six cells: left or right, a step costs 0.1, the right end pays 1 and ends the episode.
constexpr int cells = 6;
constexpr auto policy = features<cells> >> dense<32> >> activation::tanh >> dense<2>;

int main() {
    estimator model{policy, averaged_over_batch(weighted(softmax_cross_entropy)), adam{.learning_rate = 1e-2f},
                    max_batch<512>};
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform;
    for (int update = 0; update < 100; ++update) {
        std::vector<float> states, returns;
        std::vector<std::int32_t> actions;
        float total = 0;
        for (int episode = 0; episode < 16; ++episode) {
            const std::size_t first = returns.size();
            for (int at = 0, step = 0; at < cells - 1 && step < 32; ++step) {
                std::vector<float> here(cells, 0.f);
                here[static_cast<std::size_t>(at)] = 1;
                const std::vector<data::input_view> inputs{{here.data(), nullptr, cells}};
                data::batch_view one;
                one.size = 1;
                one.inputs = inputs;
                const span<const float> logits = model.predict(one);
                const bool right = uniform(random) < 1 / (1 + std::exp(logits[0] - logits[1]));
                at = right ? at + 1 : at > 0 ? at - 1 : 0;
                states.insert(states.end(), here.begin(), here.end());
                actions.push_back(right);
                returns.push_back(at == cells - 1 ? 1.f : -0.1f);
            }
            for (std::size_t i = returns.size() - 1; i-- > first;) returns[i] += 0.99f * returns[i + 1];
            total += returns[first];
        }
        float mean = 0;
        for (const float r : returns) mean += r / static_cast<float>(returns.size());
        for (float& r : returns) r -= mean;   // a baseline: half of the actions become less likely
        data::dataset batch(extents(cells), std::move(states));
        batch.labels(std::move(actions), 2).weights(std::move(returns));
        for (const data::batch_view& b : data::source(batch) | data::batch(512)) model.inner().step(b);
        if (update % 20 == 0) std::printf("update %d: return %.3f\n", update, static_cast<double>(total / 16));
    }
}
