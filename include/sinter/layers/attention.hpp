// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/ops/attention.hpp>
#include <sinter/ops/detail/lengths.hpp>
#include <sinter/ops/rotary.hpp>

namespace sinter::inline SINTER_TARGET {

/// What an attention layer may be given; each begins with the usual value.
struct attention_settings {
    sinter::causal causal = sinter::causal::no;
    int kv_heads = 0;                         ///< of keys and values; 0: as many as of queries
    int head_width = 0;                       ///< 0: the queries' width by the number of heads
    sinter::bias bias = sinter::bias::yes;    ///< of the four projections
    bool rotary = false;                      ///< queries and keys are turned by their places (ops/rotary.hpp)
    position_pairs pairs = position_pairs::halves;
    number dropout = 0.0;                     ///< of the attention probabilities, in training
};

/// multi_head_attention<Heads, attention_settings{...}> (Vaswani et al. 2017): queries, keys and
/// values are projections of rows, each head looks at its own part of them, and a last projection
/// mixes the heads' results, [T, E] -> [T, E]. Called with (x): self-attention; (x, memory [S, F]):
/// queries from x, keys and values from memory; (x, memory, lengths): only so many rows of each
/// example's memory count, int32 from 0 to S; the others are not looked at, be they NaN;
/// (x, segments), an int32 for each row, [T]: self-attention where a row holds several sequences,
/// each of which sees itself alone (ops/attention.hpp; data::pack makes such rows). Parameters
/// query/kernel [E, H D], key/kernel, value/kernel, output/kernel (Glorot uniform) and biases
/// (zeros). PyTorch's MultiheadAttention, which holds the first three transposed in one matrix.
template <int Heads, attention_settings S = attention_settings{}>
struct multi_head_attention_layer : layer<multi_head_attention_layer<Heads, S>> {
    static_assert(Heads > 0 && S.kv_heads >= 0 && S.head_width >= 0,
                  "multi_head_attention: heads and widths must be positive");
    static_assert(S.dropout.value >= 0.f && S.dropout.value < 1.f,
                  "multi_head_attention: the dropout rate must be at least 0 and below 1");
    static constexpr const char* name = "multi_head_attention";

    static constexpr tensor trace(tensor x) { return mix(x, x, {}, {}); }
    static constexpr tensor trace(tensor x, tensor other) {
        return ops::are_segments(other) ? mix(x, x, {}, other) : mix(x, other, {}, {});
    }
    static constexpr tensor trace(tensor x, tensor memory, tensor lengths) {
        const tensor counted =
            ops::within_lengths(memory, lengths);   // for the sums over rows that are weights' gradients
        return mix(x.id == memory.id ? counted : x, counted, lengths, {});
    }

private:
    static constexpr tensor project(tensor x, const char* scope, int units) {
        if (!x.ok()) return x;
        const compiler::scoped s(x.g, scope);
        const int k = x.shape().last();
        const tensor y = matmul(x, weights(x, "kernel", extents(k, units), glorot_uniform(k, units)));
        if constexpr (S.bias == bias::no) return y;
        else return y + parameter(x, "bias", extents(units), zeros);
    }
    static constexpr tensor mix(tensor x, tensor memory, tensor lengths, tensor segments) {
        const shape s = x.shape();
        if (s.rank != 2 || (S.head_width == 0 && s.last() % Heads))
            return fail(x.g, fault_kind::heads_do_not_fit, op::attention, s, extents(Heads));
        constexpr int groups = S.kv_heads ? S.kv_heads : Heads;
        const int width = S.head_width ? S.head_width : s.last() / Heads;
        tensor q = project(x, "query", Heads * width), k = project(memory, "key", groups * width);
        const tensor v = project(memory, "value", groups * width);
        if constexpr (S.rotary) {
            q = ops::rotary(q, {.heads = Heads, .pairs = S.pairs});
            k = ops::rotary(k, {.heads = groups, .pairs = S.pairs});
        }
        const tensor y = attention(q, k, v,
                                   {.heads = Heads, .causal = S.causal, .lengths = lengths, .segments = segments,
                                    .dropout = S.dropout.value});
        return project(y, "output", s.last());
    }
};
template <int Heads, attention_settings S = attention_settings{}>
inline constexpr multi_head_attention_layer<Heads, S> multi_head_attention{};

} // namespace sinter
