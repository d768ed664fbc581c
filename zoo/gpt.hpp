// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/positions.hpp>
#include <sinter/layers/transformer.hpp>
#include <sinter/expr/input.hpp>

namespace sinter::zoo {

/// The smallest model of Radford et al. 2019 ("Language models are unsupervised multitask
/// learners"), table 2. The larger ones have 24 blocks 1024 wide with 16 heads, 36 of 1280 with 20,
/// and 48 of 1600 with 25.
struct gpt_size {
    int symbols = 50'257, context = 1024, width = 768, heads = 12, blocks = 12;
    number dropout = 0.1;
};

/// Symbol numbers [context] -> scores of each next one, [context, symbols]: GPT-2. It differs in
/// its last layer, which has weights (and biases) of its own where the paper's takes the
/// embedding's table once more: that table's gradient has only the rows which a batch has. gelu is
/// the exact one, GPT-2's its approximation by tanh. Weights begin as transformer_block has them,
/// not smaller with depth.
template <gpt_size S = gpt_size{}>
inline constexpr auto
    gpt = indices<S.context> >> embedding<S.symbols, S.width> >> position_embedding >> dropout<S.dropout> >>
          [](tensor x) {
              constexpr auto block =
                  transformer_block<S.heads, 4 * S.width, attention_settings{.causal = causal::yes}, S.dropout>;
              for (int i = 0; i < S.blocks; ++i) x = block(x);
              return x;
          } >>
          layer_norm >> dense<S.symbols>;

} // namespace sinter::zoo
