// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/detail/runtime_scalar.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/internal/batch_share.hpp>
#include <sinter/ops/internal/global_loss_weight.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/over_global_batch.hpp>
#include <sinter/ops/reciprocal.hpp>
#include <sinter/ops/round.hpp>
#include <sinter/ops/sum.hpp>
#include <sinter/ops/where.hpp>
#include <sinter/compiler/loss_targets.hpp>
#include <utility>

/// The loss within a program: its targets become inputs, it is called, and its values become one
/// number.
namespace sinter::inline SINTER_TARGET::detail {

/// A target as an input, after those of the net.
constexpr tensor make_target(graph& g, const bundle& outputs, const target_spec& t) {
    if (t.output >= outputs.n)
        return fail(&g, fault_kind::wrong_number_of_inputs, op::input, extents(outputs.n), extents(t.output + 1));
    const shape prediction = outputs[t.output].shape();
    const bool per_row = t.kind == target_kind::class_index || t.kind == target_kind::weight_of_rows;
    const bool whole = t.kind == target_kind::class_index || t.kind == target_kind::indices;
    const bool weight = is_weight(t.kind);
    shape s = t.own;
    s.batched = true;
    if (per_row || t.kind == target_kind::same_as_output) s = prediction.plain();
    if (per_row || (whole && t.below == 0)) {
        if (prediction.rank == 0)
            return fail(&g, fault_kind::labels_do_not_fit_predictions, op::input, prediction, batch_of(1));
        if (per_row) s.d[--s.rank] = 0;
    }
    int below = 0;
    if (whole) {
        s.type = dtype::i32;
        below = t.below ? t.below : prediction.last();
    }
    const tensor y = make<op::input>(&g, s, {}, {g.inputs.n + g.targets.n, below, 0, whole ? t.also : 0, weight});
    g.targets.push(y.id);
    return y;
}

/// The sum of all values of all examples; of something without a batch, of its values.
constexpr tensor sum_of_all(tensor l) {
    l = ops::sum(ops::reshape(l, extents(l.shape().size())), {-1});
    return l.shape().batched ? ops::sum(l, {batch_axis}) : l;
}
/// The mean over the batch of whatever the loss gives for each example. What is a scalar already
/// counts as a mean over this batch's examples. A shard's is its share in the mean over the global
/// batch.
constexpr tensor mean_loss(tensor l) {
    if (!l.ok()) return l;
    if (!l.shape().batched && l.shape().size() != 1)
        return fail(l.g, fault_kind::loss_not_scalar, op::none, l.shape(), extents());
    if (!l.shape().batched) return ops::unary<op::batch_share>(ops::reshape(l, extents()));
    const int n = l.shape().size();
    l = ops::over_global_batch(sum_of_all(l));
    return n > 1 ? l * (1.f / static_cast<float>(n)) : l;
}
/// `w` under the extents of `values`: as it is, or one number an example.
constexpr tensor stretch_weights(tensor w, const shape& values) {
    if (!w.ok() || w.shape() == values) return w;
    shape s = values;
    for (int i = 0; i < s.rank; ++i) s.d[i] = 1;
    if (w.shape().size() != 1 || !values.batched)
        return fail(w.g, fault_kind::labels_do_not_fit_predictions, op::mul, w.shape(), values);
    return ops::broadcast_to(ops::reshape(w, s), values);
}
/// x where w is not 0, else an exact zero, through which no NaN comes, nor back in the gradient.
constexpr tensor where_counted(tensor x, tensor w) {
    if (!x.ok() || !w.ok()) return {x.g, -1};
    return ops::where(w, x, 0.f);
}
/// The sum of all weights: what a weighted mean is divided by.
constexpr tensor sum_of_weights(const weighted_values& l) {
    return sum_of_all(stretch_weights(l.weights, l.values.shape()));
}
constexpr tensor reduce_loss(const weighted_values& l, reduction r) {
    if (!l.values.ok() || (l.weighted() && !l.weights.ok())) return {l.values.g, -1};
    if (l.reduced) return l.values;
    if (!l.weighted()) return r == reduction::sum ? sum_of_all(l.values) : mean_loss(l.values);
    const tensor w = stretch_weights(l.weights, l.values.shape());
    const tensor v = where_counted(l.values * w, w);
    if (!v.ok()) return v;
    if (r == reduction::over_batch) return mean_loss(v);
    const tensor total = sum_of_all(v);
    if (r == reduction::sum) return total;
    const tensor own = sum_of_weights(l);
    graph& g = *own.g;
    g.loss_weight = own.id;
    const tensor weight = make<op::global_loss_weight>(&g, own.shape(), {own}, {g.loss_weights++});
    return total / (weight + ops::equal(weight, 0.f));
}

/// The state that holds what the gradients of a round count together: the last of all states.
inline constexpr const char* name_of_gathered_weight = "gathered_weight";

/// Where several steps' gradients are added up before an update (accumulate). A loss that is a mean
/// is differentiated as the sum that it is made of. Its divisor, a sum of weights or the number of
/// examples, is added up in a state. The update divides one by the other, so that the steps are
/// parts of one large batch, whatever counts in each of them. Sums are not divided.
/// `loss`: reduce_loss's.
constexpr void gather_loss(tensor loss, const weighted_values& l, reduction r, int first_of_round) {
    graph& g = *loss.g;
    tensor sum, count = ops::round(ops::reciprocal(ops::over_batch(constant(&g, 1.f))));   // of examples
    if (r == reduction::sum) {
        sum = loss;
        count = constant(&g, 1.f);
    } else if (!l.values.shape().batched) {   // a share in the global batch's mean, or a mean over this shard
        const tensor all = l.reduced ? ops::round(ops::reciprocal(ops::over_global_batch(constant(&g, 1.f)))) : count;
        sum = ops::reshape(l.values, extents()) * all;
    } else {
        tensor v = l.values;
        if (l.weighted()) {
            const tensor w = stretch_weights(l.weights, v.shape());
            v = where_counted(v * w, w);
        }
        sum = sum_of_all(v);
        if (g.loss_weight >= 0) count = {&g, g.loss_weight};
        else if (const int n = v.shape().size(); n > 1) sum = sum * (1.f / static_cast<float>(n));
    }
    if (!sum.ok() || !count.ok()) return;
    g.loss_sum = sum.id;
    const tensor gathered = state(loss, name_of_gathered_weight, extents(), zeros);
    const tensor kept = make<op::runtime_scalar>(&g, extents(), {}, {first_of_round});
    assign_value(gathered, r == reduction::sum ? kept * 0.f + 1.f : gathered * kept + count, false);
}

template <int>
struct one_more {
    using type = tensor;
};

/// Whether a net's type says that its last layer gives a bundle.
template <class Net>
constexpr bool gives_several() {
    if constexpr (requires { Net::gives_one; }) return !Net::gives_one;
    else return false;
}
/// Whether a loss declares another number of targets than one.
template <class Loss>
constexpr bool lists_targets() {
    if constexpr (requires { Loss::targets; }) return Loss::targets.n != 1;
    else return false;
}
/// A lambda of `auto`s is not asked whether it takes bundles where two tensors would do: its body
/// might not compile. Nor is a loss of several operators, which looks alike.
template <class Loss, class Net>
constexpr bool takes_bundles() {
    constexpr bool asks = [] {
        if constexpr (requires { &Loss::operator(); }) return true;
        else return lists_targets<Loss>() || gives_several<Net>();
    }();
    if constexpr (asks) return std::is_invocable_v<Loss, bundle, bundle>;
    else return false;
}

/// Calls a loss in whichever form it is written: a function of one prediction and its targets, or
/// of two bundles. All that is there of it is its type: what an object holds cannot be had. `Net`:
/// that it is called for, where y is all that it gives.
template <class Loss, int... I>
constexpr weighted_values call_with_tensors(const bundle& y, [[maybe_unused]] const bundle& t,
                                            std::integer_sequence<int, I...>) {
    if constexpr (std::is_invocable_r_v<weighted_values, Loss, tensor, typename one_more<I>::type...>)
        return Loss{}(y[0], t[I]...);
    else if constexpr (std::is_invocable_v<Loss, tensor, typename one_more<I>::type...>)
        return fail(y.g, fault_kind::loss_not_scalar, op::none, y[0].shape(), extents());
    else return fail(y.g, fault_kind::wrong_number_of_inputs, op::input, extents(1 + t.n), extents(arity<Loss>()));
}
template <class Loss, class Net = void>
constexpr weighted_values call_loss(const bundle& y, const bundle& t) {
    if constexpr (!std::is_empty_v<Loss>)
        return fail(y.g, fault_kind::loss_holds_values, op::none, extents(), extents());
    else if constexpr (takes_bundles<Loss, Net>())
        return Loss{}(y, t);   // asked first: a tensor would do as one
    else {
        if (y.n != 1) {
            y.g->fail(fault_kind::loss_takes_one_output, op::none, extents(y.n), extents(1));
            return tensor{y.g, -1};
        }
        return call_with_tensors<Loss>(y, t, std::make_integer_sequence<int, targets_of<Loss>().n>());
    }
}

} // namespace sinter::detail
