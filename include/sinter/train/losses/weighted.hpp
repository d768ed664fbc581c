// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
/// x where the weight of its example or row is not 0; there 0, so that whatever the loss makes of
/// it is finite. Labels, and what the weights' extents do not fit, stay as they are.
constexpr tensor where_weighted(tensor x, tensor w) {
    if (!x.ok() || !w.ok() || x.shape().type != dtype::f32 || !x.shape().batched) return x;
    const shape s = x.shape(), per = w.shape();
    shape column = s;
    bool fit = per.rank <= s.rank;
    for (int i = 0; fit && i < s.rank; ++i) {
        column.d[i] = i < per.rank ? per.d[i] : 1;
        fit = column.d[i] == 1 || column.d[i] == s.d[i];
    }
    return fit ? only_where(ops::reshape(w, column), x) : x;
}
} // namespace detail

/// A loss whose values are weighted, by numbers that come with the batch (dataset::weights,
/// batch_view::weights) and that the loss takes after its own targets. Under the mean reduction the
/// batch's loss is sum(w l) / sum(w), and 0 where all weights are 0. Weights may be negative. An
/// example with the weight 0 is ignored: whatever its prediction and float targets are, NaN too,
/// neither loss nor gradient see it, nor what of its input is not finite
/// (strategy/uncounted_examples.hpp).
template <class L, target_kind Kind>
struct weighted_loss {
    static constexpr reduction reduce = reduction_of<L>();
    static constexpr bool of_logits = requires { L::of_logits; };
    static constexpr target_names names = names_of_targets<L>();
    static constexpr target_list targets = targets_of<L>().with(target_spec(Kind).hiding(hidden_part::everything));
    constexpr weighted_values operator()(bundle y, bundle t) const {
        const tensor w = t[t.n - 1];
        bundle rest = t;
        --rest.n;
        for (int i = 0; i < y.n; ++i) y.t[i] = detail::where_weighted(y.t[i], w);
        for (int i = 0; i < rest.n; ++i) rest.t[i] = detail::where_weighted(rest.t[i], w);
        weighted_values l = detail::call_loss<L>(y, rest);
        if (!l.values.ok() || !w.ok()) return tensor{y.g, -1};
        const tensor all = detail::stretch_weights(w, l.values.shape());
        return {l.values, l.weighted() ? detail::stretch_weights(l.weights, l.values.shape()) * all : all};
    }
};
/// weighted(mse): one weight an example.
template <class L>
constexpr weighted_loss<L, target_kind::weight> weighted(L) {
    return {};
}
/// row_weighted(softmax_cross_entropy): a weight for each row of the prediction, which are the
/// places of a sequence or an image. The loss must give one value for each row.
template <class L>
constexpr weighted_loss<L, target_kind::weight_of_rows> row_weighted(L) {
    return {};
}

} // namespace sinter
