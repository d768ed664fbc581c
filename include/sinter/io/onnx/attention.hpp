// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/term.hpp>
#include <sinter/ops/attention.hpp>
#include <sinter/ops/rotary.hpp>

#include <cmath>

/// Attention, written out: ONNX has had an operator for it only since opset 23, which few read yet.
/// The scores of all queries and keys are there at once.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// [T, H D] or [T, H, D] as [groups, H / groups, T, D], the last two exchanged where `transposed`.
SINTER_COLD inline value_name by_heads(exporter& e, int id, int operand, int groups, int heads, bool transposed) {
    const shape& s = e.s(operand);
    const int b = s.batched;
    few_numbers split{s.d[0], groups, heads / groups, s.size() / (s.d[0] * heads)}, order{1, 2, 0, 3};
    if (transposed) std::swap(order[2], order[3]);
    for (std::int64_t& axis : order) axis += b;
    if (b) split.insert(split.begin(), 0), order.insert(order.begin(), 0);
    return e.transpose(id, e.reshape(id, e.value(operand), split), order);
}
SINTER_COLD inline void emit_attention(exporter& e, int id) {
    const node& n = e.n(id);
    const int heads = n.p[attention_attribute::heads], groups = n.p[attention_attribute::groups],
              shift = n.p[attention_attribute::shift];
    const int queries = e.s(n.in[0]).d[0], keys = e.s(n.in[1]).d[0];
    const float hidden = -std::numeric_limits<float>::infinity();
    const value_name q = by_heads(e, id, n.in[0], groups, heads, false),
                      k = by_heads(e, id, n.in[1], groups, groups, true);
    value_name scores = e.add(id, "MatMul", {q, k});
    scores = e.add(id, "Mul", {scores, e.m.floats("scale", {}, {n.f})});
    if (n.p[attention_attribute::biased]) {   // a bias [S], [T, S] or [H, T, S] against [groups, H / groups, T, S]
        const shape& s = e.s(n.in[4]);
        const std::int64_t rows = s.rank > 1 ? s.d[s.rank - 2] : 1, own = s.rank > 2 ? s.d[0] : 1;
        few_numbers to{own == 1 ? 1 : groups, own == 1 ? 1 : heads / groups, rows, keys};
        if (s.batched) to.insert(to.begin(), 0);
        scores = e.add(id, "Add", {scores, e.reshape(id, e.value(n.in[4]), to)});
    }
    if (shift + 1 < keys) {
        std::vector<float> mask;
        for (int i = 0; i < queries; ++i)
            for (int j = 0; j < keys; ++j) mask.push_back(j <= i + shift ? 1.f : 0.f);
        const value_name seen = e.cast(id, e.m.floats("causal", {queries, keys}, mask), element::truth);
        scores = e.add(id, "Where", {seen, scores, e.m.floats("hidden", {}, {hidden})});   // be it NaN
    }
    value_name values = by_heads(e, id, n.in[2], groups, groups, false);
    if (n.p[attention_attribute::measured]) {
        std::vector<float> place;
        for (int j = 0; j < keys; ++j) place.push_back(static_cast<float>(j));
        const auto to = static_cast<std::int64_t>(element::f32);
        const value_name lengths =
            e.add(id, "Cast", {e.reshape(id, e.value(n.in[3]), {0, 1, 1, 1, 1})}, {integer("to", to)});
        const value_name seen = e.add(id, "Less", {e.m.floats("place", {keys}, place), lengths});
        scores = e.add(id, "Where", {seen, scores, e.m.floats("hidden", {}, {hidden})});
        few_numbers rows{1, 1, keys, 1};   // 0 times NaN would be NaN
        if (n.s.batched) rows.insert(rows.begin(), 0);
        values = e.add(id, "Where", {e.reshape(id, seen, rows), values, e.m.floats("nothing", {}, {0.f})});
    }
    if (n.p[attention_attribute::packed]) {   // of one segment, and not of padding
        few_numbers own{1, 1, queries, 1}, other{1, 1, 1, keys};
        for (auto* axes : {&own, &other}) axes->insert(axes->begin(), 0);
        const value_name mine = e.reshape(id, e.value(n.in[3]), own);
        const value_name alike = e.add(id, "Equal", {mine, e.reshape(id, e.value(n.in[3]), other)});
        const value_name counts = e.cast(id, mine, element::truth);
        scores = e.add(id, "Where", {e.add(id, "And", {alike, counts}), scores, e.m.floats("hidden", {}, {hidden})});
    }
    value_name share = e.add(id, "Softmax", {scores}, {integer("axis", -1)});
    // A query that sees no key, or only scores of minus infinity, gets zeros.
    if (n.p[attention_attribute::measured] || n.p[attention_attribute::biased] || n.p[attention_attribute::packed] ||
        shift < 0) {
        const value_name none = e.add(id, "Equal", {scores, e.m.floats("hidden", {}, {hidden})});
        const value_name some = as_floats(e, id, e.add(id, "Not", {none}));
        const value_name any = e.cast(id, e.add(id, "ReduceMax", {some, e.m.whole({-1})}), element::truth);
        share = e.add(id, "Where", {any, share, e.m.floats("nothing", {}, {0.f})});
    }
    const value_name y = e.add(id, "MatMul", {share, values});
    few_numbers order{2, 0, 1, 3};   // [T, groups, H / groups, E]
    for (std::int64_t& axis : order) axis += n.s.batched;
    if (n.s.batched) order.insert(order.begin(), 0);
    e.set(id, e.reshape(id, e.transpose(id, y, order), e.with_batch(n.s)));
}

/// RotaryEmbedding came with opset 23, too. Each head's pairs lie as [2, D / 2] or, neighbours, [D
/// / 2, 2].
SINTER_COLD inline void emit_rotary(exporter& e, int id) {
    const node& n = e.n(id);
    const shape& angles = e.s(n.in[1]);
    const int b = n.s.batched, pairs = angles.d[2], axis = b + (n.p[rotary_attribute::halves] ? 2 : 3);
    const auto one_of = [&](value_name x, int i, int along) {
        return e.add(id, "Gather", {x, e.m.whole({i}, {})}, {integer("axis", along)});
    };
    shape split = extents(angles.d[1], n.p[rotary_attribute::heads], n.p[rotary_attribute::halves] ? 2 : pairs,
                          n.p[rotary_attribute::halves] ? pairs : 2);
    split.batched = n.s.batched;
    const value_name x = e.reshape(id, e.value(n.in[0]), e.with_batch(split)), of_table = e.value(n.in[1]);
    const value_name first = one_of(x, 0, axis), second = one_of(x, 1, axis);
    value_name rotation[2];   // cosine and sine, for all heads alike
    for (int i = 0; i < 2; ++i) rotation[i] = e.reshape(id, one_of(of_table, i, 0), {angles.d[1], 1, pairs});
    if (n.p[rotary_attribute::backwards]) rotation[1] = e.add(id, "Neg", {rotation[1]});
    const auto times = [&](value_name a, int i) { return e.add(id, "Mul", {a, rotation[i]}); };
    const value_name y[] = {e.add(id, "Sub", {times(first, 0), times(second, 1)}),
                             e.add(id, "Add", {times(first, 1), times(second, 0)})};
    std::vector<value_name> parts;
    for (value_name part : y) parts.push_back(e.add(id, "Unsqueeze", {part, e.m.whole({axis})}));
    e.set(id, e.reshape(id, e.add(id, "Concat", parts, {integer("axis", axis)}), e.with_batch(n.s)));
}

} // namespace detail

inline constexpr emitter attention_emitters[] = {{op::attention, detail::emit_attention},
                                                 {op::rotary, detail::emit_rotary}};

} // namespace sinter::onnx
