// SPDX-License-Identifier: BSL-1.0
// A language model of two LSTMs and its training step: what bench/build_cost.py compiles.
#include <cstdio>

#include <sinter/sinter.hpp>
#include <zoo/lstm_language_model.hpp>
using namespace sinter;

constexpr int context = 64, symbols = 256;

constexpr auto net = zoo::lstm_language_model<
    zoo::lstm_language_model_size{.symbols = symbols, .steps = context, .units = 256, .embedded = 64, .dropout = 0.0}>;

using model_trainer = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, 16>;

int main() {
    model_trainer model(adam{.learning_rate = 1e-3f});
    auto batches = data::source(data::dataset().input(extents(context), std::vector<std::int32_t>(16 * context))
                                    .labels(extents(context), std::vector<std::int32_t>(16 * context), symbols))
                 | data::batch(16);
    for (const data::batch_view& b : batches) std::printf("loss %g\n", static_cast<double>(model.step(b)));
    std::printf("%d launches of %d kernels, %lld bytes\n", model_trainer::training::v.n_launches,
                model_trainer::training::v.n_specs, static_cast<long long>(model_trainer::bytes()));
}
