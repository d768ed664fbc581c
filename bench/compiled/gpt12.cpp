// SPDX-License-Identifier: BSL-1.0
// A language model of twelve transformer blocks (Radford et al. 2019) and its training step: what bench/build_cost.py compiles.
#include <cstdio>

#include <sinter/expr/layers/embedding.hpp>
#include <sinter/expr/layers/transformer.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr int context = 128, width = 192, symbols = 256;

constexpr auto place = [](tensor x) { return x + parameter(x, "place", extents(context, width), {init_kind::uniform, 0.05f}); };
constexpr auto block = transformer_block<6, 4 * width, attention_settings{.causal = causal::yes}>;
constexpr auto blocks = [](tensor x) {
    for (int i = 0; i < 12; ++i) x = block(x);
    return x;
};
constexpr auto net = indices<context> >> embedding<symbols, width> >> place >> blocks >> layer_norm >> dense<symbols>;

using gpt = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adamw, 8>;

int main() {
    gpt model(adamw{.learning_rate = 1e-3f});
    auto batches = data::source(data::example_set().input(extents(context), std::vector<std::int32_t>(8 * context))
                                    .labels(extents(context), std::vector<std::int32_t>(8 * context), symbols))
                 | data::batch(8);
    for (const data::batch_view& b : batches) std::printf("loss %g\n", static_cast<double>(model.step(b)));
    std::printf("%d launches of %d kernels, %lld bytes\n", gpt::training::v.n_launches, gpt::training::v.n_specs,
                static_cast<long long>(gpt::bytes()));
}
