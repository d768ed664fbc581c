// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/ops/cumsum.hpp>
#include <sinter/ops/detail/less_maximum.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/expm1.hpp>
#include <sinter/ops/floor.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <sinter/ops/to_index.hpp>
#include <sinter/ops/top_k.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>

/// What sampled_softmax and nce share: some classes instead of all.
namespace sinter::inline SINTER_TARGET {

/// Whether a class may be drawn more than once in a step. `unique` draws from all classes, which
/// costs a sort of them.
enum class sampling { with_replacement, unique };

} // namespace sinter
namespace sinter::inline SINTER_TARGET::detail {

/// The one parameter of this name, wherever in the net it is; a fault if there is none, or several.
constexpr tensor only_parameter(graph* g, const char* name) {
    int found = 0, id = -1;
    for (int i = 0; i < g->parameters.n; ++i)
        if (same_name(g->parameters[i].name, name)) ++found, id = g->parameters[i].id;
    if (found != 1) return fail(g, fault_kind::wrong_number_of_inputs, op::parameter, extents(found), extents(1));
    return {g, id};
}

/// With what probability one draw gives class c of v (integers as floats): log((c + 2) / (c +
/// 1)) / log(v + 1), so that small numbers, which are to be the frequent classes, come often
/// ("log-uniform", as Zipf's law has it).
constexpr tensor log_uniform_probability(tensor c, int v) {
    return ops::log1p(1.f / (c + 1.f)) / ops::log(constant(c.g, static_cast<float>(v + 1)));
}

/// Classes drawn anew in each step, int32 [K], and how many draws that took: one number, or empty
/// where each draw counted.
struct drawn_classes {
    tensor classes, tries{};
};
/// By the inverse of the distribution function.
constexpr drawn_classes log_uniform_candidates(graph* g, int k, int v) {
    const tensor u = make<op::random_uniform>(g, extents(k), {}, {++g->streams});
    return {to_index(ops::exp(u * ops::log(constant(g, static_cast<float>(v + 1)))) - 1.f, v)};
}
/// Each class once at most: as if classes were drawn again and again, and repeated ones passed
/// over, but without that loop. Classes first occur in the order of exponential waiting times of
/// their rates (Efraimidis and Spirakis 2006). How many draws are passed over between two of them
/// is geometrically distributed.
constexpr drawn_classes unique_log_uniform_candidates(graph* g, int k, int v) {
    const auto uniform = [&](int n) { return make<op::random_uniform>(g, extents(n), {}, {++g->streams}); };
    const tensor each = log_uniform_probability(ops::column_numbers(g, extents(v)), v);
    const tensor classes = ops::top_k(-ops::log1p(-uniform(v)) / each, k, -1, order::ascending).indices;
    const tensor p = log_uniform_probability(ops::to_float(classes), v);
    const tensor seen =
        ops::minimum(ops::cumsum(p, -1, {.exclusive = true}), 1.f - 0x1p-22f);   // probability of a repetition
    const tensor passed_over = ops::floor(ops::log(ops::maximum(uniform(k), 0x1p-25f)) / ops::log(seen));
    return {classes, sum(passed_over, {-1}) + static_cast<float>(k)};
}
/// log of how often class c is expected among K candidates: K p, or, of different ones, 1 - (1 -
/// p)^tries.
constexpr tensor log_expected_count(tensor c, int k, int v, tensor tries) {
    const tensor p = log_uniform_probability(c, v);
    return ops::log(tries.g ? -ops::expm1(tries * ops::log1p(-p)) : p * static_cast<float>(k));
}

/// Scores less the logarithms of expected counts: of the labels [...], and of the candidates [...,
/// K]; `hits` is 1 where a candidate is the label.
struct scored_candidates {
    tensor right, others, hits;
};
constexpr scored_candidates score_candidates(tensor x, tensor labels, const drawn_classes& d, tensor vectors,
                                             tensor bias) {
    const tensor candidates = d.classes;
    const int k = candidates.shape().last(), v = vectors.shape().d[0];
    shape column = labels.shape();
    column.d[column.rank++] = 1;
    const tensor label = ops::to_float(labels), drawn = ops::to_float(candidates);
    const tensor right =
        sum(x * gather_rows(vectors, labels), {-1}) + ops::reshape(gather_rows(bias, labels), labels.shape());
    const tensor others = matmul(x, gather_rows(vectors, candidates), transposed::no, transposed::yes) +
                          ops::reshape(gather_rows(bias, candidates), extents(k));
    return {right - log_expected_count(label, k, v, d.tries), others - log_expected_count(drawn, k, v, d.tries),
            ops::equal(ops::reshape(label, column), drawn)};
}

/// log of the sum over the label and the candidates of e^score, less the label's score. A candidate
/// that is the label (an accidental hit) does not count.
constexpr tensor sampled_softmax_value(const scored_candidates& s) {
    const tensor others = ops::where(s.hits, -__builtin_inff(), s.others);
    const tensor top = stop_gradient(ops::maximum(s.right, max(others, {-1})));
    shape column = s.right.shape();
    column.d[column.rank++] = 1;
    const tensor right = ops::less_maximum(s.right, top);
    return ops::log(ops::exp(right) + sum(ops::exp(ops::less_maximum(others, ops::reshape(top, column))), {-1})) -
           right;
}
/// -log s(right) - sum of log(1 - s(others)), s the logistic function.
template <bool RemoveHits>
constexpr tensor nce_value(const scored_candidates& s) {
    const auto softplus = [](tensor z) { return ops::maximum(z, 0.f) + ops::log1p(ops::exp(-ops::abs(z))); };
    tensor wrong = softplus(s.others);
    if (RemoveHits) wrong = ops::where(s.hits, 0.f, wrong);
    return softplus(-s.right) + sum(wrong, {-1});
}

/// A loss over candidates in training, and the cross entropy over all classes in evaluation.
template <int V, int K, sampling S, class Value>
constexpr tensor candidate_loss(tensor x, tensor labels, Value value) {
    static_assert(K > 0, "at least one candidate");
    static_assert(S == sampling::with_replacement || K < V, "fewer candidates than classes");
    if (!x.ok() || !labels.ok()) return {x.g, -1};
    if (x.g->mode() != program_mode::training) return softmax_cross_entropy(x, labels);
    if (!one_for_each_row(x, labels, op::gather_rows)) return {x.g, -1};
    const tensor vectors = only_parameter(x.g, "class_vectors"), bias = only_parameter(x.g, "class_bias");
    if (!vectors.ok() || !bias.ok()) return {x.g, -1};
    if (vectors.shape().d[0] != V || vectors.shape().last() != x.shape().last())
        return fail(x.g, fault_kind::labels_do_not_fit_predictions, op::gather_rows, extents(V), vectors.shape());
    const drawn_classes drawn =
        S == sampling::unique ? unique_log_uniform_candidates(x.g, K, V) : log_uniform_candidates(x.g, K, V);
    return value(score_candidates(x, labels, drawn, vectors, bias));
}

} // namespace sinter::detail
