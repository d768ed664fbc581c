// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <sinter/graph/initializer.hpp>
#include <sinter/ops/broadcast.hpp>
#include <sinter/ops/detail/attention_products.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/max_pool.hpp>

/// attention(q, k, v, {...}): for each head, the rows of v, each weighed by softmax over the keys
/// of scale q k^T. Queries [T, H, D], keys [S, G, D], values [S, G, E] -> [T, H, E]; or with heads
/// = H the same without their own axis, [T, H D]. Each of the G heads of keys and values serves H /
/// G heads of queries (Ainslie et al. 2023). Computed by blocks (Dao et al. 2022): the scores [T,
/// S] are never stored, backward computes them again. With segments a row holds several sequences
/// behind each other, which do not see each other (Krell et al. 2021). ONNX: Attention (opset 23).
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name attention{"attention"}, attention_gradient{"attention_gradient"},
    attention_bias_gradient{"attention_bias_gradient"};
}

/// Which keys a query sees: all; those at its own place and before, counted from the first query
/// and key (as PyTorch, Keras and ONNX) or from the last of both (as FlashAttention: queries that
/// continue a longer past).
enum class causal : std::uint8_t { no, yes, from_end };

/// What ops::attention may be given.
struct attention_options {
    int heads = 1;                               ///< of the queries, where heads have no axis of their own
    sinter::causal causal = sinter::causal::no;
    float scale = 0;                             ///< of the scores; 0: 1 / sqrt(D)
    tensor lengths{};                            ///< one int32 an example: only so many keys count
    /// An int32 for each row, [T], where S = T: queries see keys of their own segment alone, as if each segment were
    /// run for itself. 0: padding, which sees nothing and is seen by none; its results are zeros. What cannot be seen
    /// must be finite all the same: zero times it may be added. Not with lengths.
    tensor segments{};
    tensor bias{};       ///< added to the scaled scores: [S], [T, S] or [H, T, S], where T and H may be 1
    float dropout = 0;   ///< in training a probability is 0 with this one, else divided by the rest
};

namespace detail {

/// What attention's nodes keep; f = scale. Where there are neither lengths nor segments, or no bias,
/// q stands in their places among the operands; without dropout there is no stream.
struct attention_extents {
    int heads, groups, queries, keys, width, value_width;
    constexpr attention_extents(const int* p, const shape& q, const shape& k, const shape& v)
        : heads(p[attention_attribute::heads]), groups(p[attention_attribute::groups]), queries(q.d[0]), keys(k.d[0]),
          width(q.size() / (q.d[0] * heads)), value_width(v.size() / (v.d[0] * groups)) {}
};
constexpr void tell_attention(const kernel_request& r, kernel_extents& k) {
    const int* const p = r.n.p;
    const attention_extents x(p, r.x(0), r.x(1), r.x(2));
    using enum attention_extent::position;
    const bool packed = p[attention_attribute::packed];
    k.set_fixed({packed});
    k.set({{queries, x.queries}, {keys, x.keys}, {heads, x.heads}, {groups, x.groups}, {width, x.width},
           {value_width, x.value_width}, {scale, std::bit_cast<std::int32_t>(r.n.f)},
           {shift, p[attention_attribute::shift]},
           {limit, packed                             ? attention_limit::segments
                   : p[attention_attribute::measured] ? attention_limit::lengths
                                                      : attention_limit::none},
           {biased, p[attention_attribute::biased]}});
    k.e[dropout] = std::int64_t{p[attention_attribute::stream]} << 32 |
                   static_cast<std::uint32_t>(p[attention_attribute::dropout]);
    if (p[attention_attribute::biased]) {   // floats from one example, head, query of the bias to the next
        const shape& b = r.x(4);
        const int rows = b.rank > 1 ? b.d[b.rank - 2] : 1;
        k.e[bias_example] = b.batched ? b.size() : 0;
        k.e[bias_head] = b.rank > 2 && b.d[0] > 1 ? rows * x.keys : 0;
        k.e[bias_query] = rows > 1 ? x.keys : 0;
    }
}
constexpr long attention_flops(const node& n, const node* in, int products) {
    const attention_extents x(n.p, in[0].s, in[1].s, in[2].s);
    long pairs = 0;
    for (int i = 0; i < x.queries; ++i) {
        const int seen = i + 1 + n.p[attention_attribute::shift];
        pairs += seen < 0 ? 0 : seen > x.keys ? x.keys : seen;
    }
    return products * pairs * x.heads * (x.width + x.value_width);
}

} // namespace detail

/// Operands: q, k, v, lengths or segments, bias. Second result: [H, 2, T], of each row the largest
/// score as it is computed (not yet scaled where the scale is applied behind) and the sum of the
/// exponentials of what the scores are less than that.
template <>
struct rule<op::attention> : root_op_rule {
    static constexpr const char* name = "attention";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node* in) { return detail::attention_flops(n, in, 2); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::tell_attention(r, k);
        k.by_example(r.y(), r.n.p[attention_attribute::heads]);
        k.second_result = true;
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: attention's five, its two results, d. Results: the gradients of q, k and v.
template <>
struct rule<op::attention_gradient> : root_op_rule {
    static constexpr const char* name = "attention_gradient";
    static constexpr bool epilogue = false, further_results = true;
    static constexpr long flops(const node& n, const node* in) { return detail::attention_flops(n, in, 5); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::tell_attention(r, k);
        k.by_example(r.x(0), r.n.p[attention_attribute::groups]);
        k.second_result = k.third_result = true;
    }
    static constexpr void gradient(gradient_of& g) {
        detail::attention_products(g).add(g, g.d, g.further[0], g.further[1], {});
    }
};
/// The same operands. The gradient of the bias, summed over what it was stretched along.
template <>
struct rule<op::attention_bias_gradient> : root_op_rule {
    static constexpr const char* name = "attention_bias_gradient";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node* in) { return detail::attention_flops(n, in, 2); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::tell_attention(r, k);
        k.by_example(r.x(0), 1);
    }
    static constexpr void gradient(gradient_of& g) { detail::attention_products(g).add(g, {}, {}, {}, g.d); }
};

namespace ops {

constexpr bool attention_bias_fits(const shape& b, int heads, int queries, int keys) {
    if (b.type != dtype::f32 || b.rank < 1 || b.rank > 3 || b.last() != keys) return false;
    if (b.rank > 1 && b.d[b.rank - 2] != 1 && b.d[b.rank - 2] != queries) return false;
    return b.rank < 3 || b.d[0] == 1 || b.d[0] == heads;
}

/// What layers are given beside rows: int32 are segments, floats other rows.
constexpr bool are_segments(tensor t) { return t.ok() && t.shape().type == dtype::i32; }

constexpr tensor attention(tensor q, tensor k, tensor v, attention_options o = {}) {
    if (!q.ok() || !k.ok() || !v.ok()) return {q.g ? q.g : k.g ? k.g : v.g, -1};
    constexpr const op_name& self = op::attention;
    compiler::graph* const g = q.g;
    if (not_floats(self, q) || not_floats(self, k) || not_floats(self, v)) return {g, -1};
    q = unpack(q), k = unpack(k), v = unpack(v);
    const shape x = q.shape(), y = k.shape(), z = v.shape();
    const bool axis = x.rank == 3;   // heads have one of their own
    const int heads = axis ? x.d[1] : o.heads;
    if ((x.rank != 2 && !axis) || heads < 1 || x.last() % (axis ? 1 : heads))
        return fail(g, fault_kind::heads_do_not_fit, self, x, extents(heads));
    const int width = axis ? x.d[2] : x.d[1] / heads;
    if (y.rank != x.rank || z.rank != x.rank || y.d[0] != z.d[0])
        return fail(g, fault_kind::inner_extents_differ, self, y, z);
    if (y.last() % width || (axis && y.d[2] != width)) return fail(g, fault_kind::inner_extents_differ, self, x, y);
    const int groups = axis ? y.d[1] : y.d[1] / width;
    if (heads % groups || (axis ? z.d[1] != groups : z.d[1] % groups != 0))
        return fail(g, fault_kind::heads_do_not_fit, self, x, z);

    const bool measured = o.lengths.g, biased = o.bias.g, packed = o.segments.g;
    if ((measured && !o.lengths.ok()) || (biased && !o.bias.ok()) || (packed && !o.segments.ok())) return {g, -1};
    if (measured) {
        const shape l = o.lengths.shape();
        if (l.type != dtype::i32 || l.size() != 1 || !l.batched)
            return fail(g, fault_kind::wrong_element_type, self, l, extents(1));
        bound_indices(*g, o.lengths.id, y.d[0] + 1);   // numbers from elsewhere are clamped
    }
    if (packed) {
        const shape ids = o.segments.shape();
        if (y.d[0] != x.d[0]) return fail(g, fault_kind::segments_do_not_fit, self, y, x);
        if (measured || ids.type != dtype::i32 || ids.rank != 1 || ids.d[0] != x.d[0] || !ids.batched)
            return fail(g, fault_kind::segments_do_not_fit, self, ids, extents(x.d[0]));
    }
    if (biased) o.bias = unpack(o.bias);
    if (biased && !attention_bias_fits(o.bias.shape(), heads, x.d[0], y.d[0]))
        return fail(g, fault_kind::shapes_not_broadcastable, self, o.bias.shape(), extents(heads, x.d[0], y.d[0]));

    if (!(o.dropout >= 0.f && o.dropout < 1.f))   // NaN too
        return fail(g, fault_kind::dropout_rate_refused, self, extents(o.dropout < 0.f ? -1 : 1), extents(0, 1));
    const bool drops = o.dropout > 0.f && g->trains();

    const bool batched = x.batched || y.batched || z.batched || measured || packed ||
                         (biased && o.bias.shape().batched);
    for (tensor* t : {&q, &k, &v})
        if (shape s = t->shape(); batched && !s.batched) {
            s.batched = true;
            *t = make<op::expand>(g, s, {*t});
        }
    const shape s = with_last(q.shape(), axis ? z.d[2] : heads * (z.d[1] / groups));
    const int shift = o.causal == causal::no ? y.d[0] : o.causal == causal::yes ? 0 : y.d[0] - x.d[0];
    return make<op::attention>(g, s, {q, k, v, measured ? o.lengths : packed ? o.segments : q, biased ? o.bias : q},
                               {heads, groups, shift, measured, biased, drops ? ++g->streams : 0,
                                drops ? std::bit_cast<int>(o.dropout) : 0, packed},
                               o.scale != 0 ? o.scale : 1 / compiler::root(static_cast<float>(width)));
}

} // namespace ops
using ops::attention;

constexpr void rule<op::attention>::gradient(gradient_of& g) {
    const node a = g.n();
    shape rows = sinter::extents(a.p[attention_attribute::heads], 2, a.s.d[0]);
    rows.batched = a.s.batched;
    const tensor q = g.x(0), k = g.x(1), v = g.x(2), sums = make<op::get_output>(g.g, rows, {g.y()}, {1});
    if (g.wants(0) || g.wants(1) || g.wants(2)) {
        const tensor dq = make<op::attention_gradient>(g.g, q.shape(), {q, k, v, g.x(3), g.x(4), g.y(), sums, g.d},
                                                       a.p, a.f);
        g.add(0, dq);
        if (g.wants(1)) g.add(1, make<op::get_output>(g.g, k.shape(), {dq}, {1}));
        if (g.wants(2)) g.add(2, make<op::get_output>(g.g, v.shape(), {dq}, {2}));
    }
    if (a.p[attention_attribute::biased] && g.wants(4))
        g.add(4, make<op::attention_bias_gradient>(g.g, g.x(4).shape(), {q, k, v, g.x(3), g.x(4), g.y(), sums, g.d},
                                                   a.p, a.f));
}

} // namespace sinter
