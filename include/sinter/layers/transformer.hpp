// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/attention.hpp>
#include <sinter/layers/norm.hpp>

namespace sinter::inline SINTER_TARGET {

/// transformer_block<Heads, Hidden, attention_settings{...}, Dropout>: x +
/// attention(layer_norm(x)), then x + dense(gelu( dense<Hidden>(layer_norm(x)))), [T, E] -> [T, E]:
/// GPT-2's block, normalised before each part (Xiong et al. 2020), with dropout of what is added;
/// attention_settings::dropout is that of the attention probabilities. Called with (x, segments),
/// int32, it is the same for rows of several sequences (layers/attention.hpp); with (x, memory) it
/// is a decoder's: between the two it also looks at memory, all of it.
template <int Heads, int Hidden, attention_settings S = attention_settings{}, number Dropout = 0.0>
struct transformer_block_layer : layer<transformer_block_layer<Heads, Hidden, S, Dropout>> {
    static constexpr const char* name = "transformer_block";

    static constexpr tensor trace(tensor x) { return feed_forward(look_at_itself(x)); }
    static constexpr tensor trace(tensor x, tensor memory) {
        if (ops::are_segments(memory)) return feed_forward(look_at_itself(x, memory));
        constexpr attention_settings all{.kv_heads = S.kv_heads, .head_width = S.head_width, .bias = S.bias,
                                         .dropout = S.dropout};   // places of memory are its own
        x = look_at_itself(x);
        return feed_forward(x + dropout<Dropout>(multi_head_attention<Heads, all>(layer_norm(x), memory)));
    }

private:
    static constexpr tensor look_at_itself(tensor x, auto... segments) {
        return x + dropout<Dropout>(multi_head_attention<Heads, S>(layer_norm(x), segments...));
    }
    static constexpr tensor feed_forward(tensor x) {
        const tensor hidden = gelu(dense<Hidden>(layer_norm(x)));
        return x + dropout<Dropout>(dense_to(hidden, x.shape().last()));
    }
    static constexpr tensor dense_to(tensor x, int units) {   // dense<>, of a width known only here
        if (!x.ok()) return x;
        const compiler::scoped s(x.g, "dense");
        const int k = x.shape().last();
        return matmul(x, weights(x, "kernel", extents(k, units), glorot_uniform(k, units))) +
               parameter(x, "bias", extents(units), zeros);
    }
};
template <int Heads, int Hidden, attention_settings S = attention_settings{}, number Dropout = 0.0>
inline constexpr transformer_block_layer<Heads, Hidden, S, Dropout> transformer_block{};

} // namespace sinter
