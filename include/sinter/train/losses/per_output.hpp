// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/number.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// A loss whose share in a sum of losses is `Weight`.
template <number Weight, class L>
struct weighed_loss : L {
    static constexpr float weight = Weight.value;
};
/// weigh<0.3>(mse): for per_output, where it counts 0.3 times.
template <number Weight, class L>
constexpr weighed_loss<Weight, L> weigh(L l) {
    return {l};
}

namespace detail {
template <class L>
constexpr float weight_of_loss = 1;
template <class L>
    requires requires { L::weight; }
constexpr float weight_of_loss<L> = L::weight;

/// Each loss's own targets, of output i, one loss after the other. What hid a whole example hides
/// this output's part of it.
template <class... L>
constexpr target_list targets_of_each() {
    target_list all;
    int output = 0;
    auto append = [&](const target_list& own) {
        for (int i = 0; i < own.n; ++i) {
            const bool hides = own.at[i].hides != hidden_part::none;
            all = all.with(own.at[i].of_output(output).hiding(hides ? hidden_part::output : hidden_part::none));
        }
        ++output;
    };
    (append(targets_of<L>()), ...);
    return all;
}
/// Each loss's own names of its targets, one loss after the other; none where no loss has any.
template <class... L>
constexpr target_names names_of_each() {
    target_names all;
    if constexpr (((names_of_targets<L>().n > 0) || ...)) {
        auto append = [&](const target_list& own, const target_names& names) {
            int i = 0;
            for (int k = 0; k < own.n; ++k)
                if (!is_weight(own.at[k].kind) && all.n < target_list::most)
                    all.at[all.n++] = i < names.n ? names.at[i++] : nullptr;
            while (i < names.n && all.n < target_list::most) all.at[all.n++] = names.at[i++];   // too many: a fault
        };
        (append(targets_of<L>(), names_of_targets<L>()), ...);
    }
    return all;
}
/// A mean over each example's values: one number an example.
constexpr tensor mean_of_example(tensor l) { return mean(ops::reshape(l, extents(l.shape().size())), {-1}); }
} // namespace detail

/// For nets of several outputs: the sum of a loss for each of them, `L` number i of output i, each
/// a mean (or what its reduction says) of its own, times its weight (Keras' `loss=[...]`,
/// `loss_weights=[...]`). Each loss is one of a single output. Its targets follow those of the loss
/// before: the data set's float columns in the order of the losses that want floats, its labels in
/// the order of those that want labels. Where none of the losses is weighted, ignores labels or has
/// a reduction of its own, the sum is one number an example, which may be weighted again; else it
/// is one number a batch.
template <class... L>
struct per_output_loss {
    static constexpr target_list targets = detail::targets_of_each<L...>();
    static constexpr target_names names = detail::names_of_each<L...>();
    constexpr weighted_values operator()(bundle y, bundle t) const {
        constexpr int n = sizeof...(L);
        if (y.n != n) return fail(y.g, fault_kind::wrong_number_of_inputs, op::none, extents(y.n), extents(n));
        weighted_values each[std::size_t{n}];
        int i = 0, next = 0;
        ((each[i] = detail::call_loss<L>(bundle(y[i]), part<L>(y, t, next)), ++i), ...);
        bool plain = ((reduction_of<L>() == reduction::mean) && ...);
        for (const weighted_values& l : each) {
            if (!l.values.ok()) return tensor{y.g, -1};
            plain = plain && !l.weighted() && l.values.shape().batched;
        }
        for (const weighted_values& l :
             each)   // before the first division: shards add them up in between (program_value::loss_weights)
            if (l.weighted()) detail::sum_of_weights(l);
        tensor sum;
        i = 0;
        auto add = [&](tensor loss, float weight) {
            if (loss.ok() && weight != 1.f) loss = loss * weight;
            sum = i++ == 0 ? loss : sum.ok() && loss.ok() ? sum + loss : tensor{y.g, -1};
        };
        (add(plain ? detail::mean_of_example(each[i].values) : detail::reduce_loss(each[i], reduction_of<L>()),
             detail::weight_of_loss<L>), ...);
        y.g->loss_weight = -1;   // a sum of means over different weights is a mean over the examples again
        weighted_values all = sum;
        all.reduced = !plain;
        return all;
    }

private:
    template <class Loss>
    static constexpr bundle part(const bundle& y, const bundle& t, int& next) {
        bundle own;
        own.g = y.g;
        while (own.n < targets_of<Loss>().n) own.t[own.n++] = t[next++];
        return own;
    }
};
/// per_output(weigh<0.3>(mse), softmax_cross_entropy).
template <class... L>
    requires(sizeof...(L) > 0)
constexpr per_output_loss<L...> per_output(L...) {
    return {};
}

} // namespace sinter
