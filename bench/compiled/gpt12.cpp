// SPDX-License-Identifier: BSL-1.0
// A language model of twelve transformer blocks (Radford et al. 2019) and its training step: what
// bench/build_cost.py compiles.
#include <cstdio>

#include <sinter/sinter.hpp>
#include <zoo/gpt.hpp>
using namespace sinter;

constexpr int context = 128, symbols = 256;

constexpr auto net =
    zoo::gpt<zoo::gpt_size{.symbols = symbols, .context = context, .width = 192, .heads = 6, .dropout = 0.0}>;

using gpt = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adamw, 8>;

int main() {
    gpt model(adamw{.learning_rate = 1e-3f});
    auto batches = data::source(data::dataset().input(extents(context), std::vector<std::int32_t>(8 * context))
                                    .labels(extents(context), std::vector<std::int32_t>(8 * context), symbols))
                 | data::batch(8);
    for (const data::batch_view& b : batches) std::printf("loss %g\n", static_cast<double>(model.step(b)));
    std::printf("%d launches of %d kernels, %lld bytes\n", gpt::training::v.n_launches, gpt::training::v.n_specs,
                static_cast<long long>(gpt::bytes()));
}
