// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/bundle.hpp>
#include <sinter/graph/target_list.hpp>
#include <sinter/graph/text.hpp>

/// What a loss is given beside the net's outputs, and how the numbers that it gives become one.
namespace sinter::inline SINTER_TARGET {
namespace detail {
using facts::is_weight;
}
static_assert(target_list::most == bundle::most);

/// What L takes beside so many outputs of a net. A single kind means: one such target for each
/// output; so does no declaration, and then they are floats.
template <class L>
constexpr target_list targets_of(int outputs = 1) {
    if constexpr (requires { L::targets; }) return L::targets;
    else {
        target_kind k = target_kind::same_as_output;
        if constexpr (requires { L::target; }) k = L::target;
        target_list l;
        for (int i = 0; i < outputs; ++i) l = l.with(target_spec(k).of_output(i));
        return l;
    }
}

/// Names of a loss's targets, of all but weights, in their order; null: that one has none. None at
/// all where `n` is 0.
struct target_names {
    int n = 0;
    const char* at[target_list::most] = {};

    constexpr target_names() = default;
    template <class... T>
        requires(sizeof...(T) > 0)
    explicit constexpr target_names(T... names) : n(sizeof...(T)), at{names...} {
        static_assert(sizeof...(T) <= target_list::most, "a loss takes six targets at the most");
    }
};
/// Those of L, which declares them as `static constexpr target_names names`.
template <class L>
constexpr target_names names_of_targets() {
    if constexpr (requires { requires std::is_same_v<decltype(L::names), const target_names>; }) return L::names;
    else return {};
}

/// How a loss's values for the examples (or for parts of them: places, rows, elements) become one
/// number.
enum class reduction : std::uint8_t {
    mean,   ///< their mean; of values with weights the weighted mean, sum(w l) / sum(w), and 0 where all weights are 0
    sum,    ///< their sum, sum(w l)
    over_batch   ///< sum(w l) / number of values, whatever their weights (Keras' sum_over_batch_size)
};
template <class L>
constexpr reduction reduction_of() {
    if constexpr (requires { L::reduce; }) return L::reduce;
    else return reduction::mean;
}

/// What a loss gives instead of a tensor where its values do not count alike: `weights` have the
/// extents of `values`, or are one an example. What has the weight 0 is left out, be its value
/// finite or not.
struct weighted_values {
    tensor values, weights{};
    bool reduced =
        false;   ///< `values` is one number, this shard's share in the global batch's loss, made of others' reductions

    constexpr weighted_values() = default;
    constexpr weighted_values(tensor v) : values(v) {}
    constexpr weighted_values(tensor v, tensor w) : values(v), weights(w) {}
    constexpr bool weighted() const { return weights.g != nullptr; }
};

/// What stands for the loss of a model that was given none: training it is a fault.
struct no_loss {
    constexpr tensor operator()(tensor y, tensor) const {
        return fail(y.g, fault_kind::loss_missing, op::none, y.shape(), extents());
    }
};

/// summed(loss), averaged_over_batch(loss): the same loss under another reduction.
template <class L, reduction R>
struct reduced_loss : L {
    static constexpr reduction reduce = R;
};
template <class L>
constexpr reduced_loss<L, reduction::sum> summed(L l) {
    return {l};
}
template <class L>
constexpr reduced_loss<L, reduction::over_batch> averaged_over_batch(L l) {
    return {l};
}

/// expects<target_kind::class_index>(f): a function as a loss, with a declaration of its targets.
/// Several are written as expects<target_list{target_kind::class_index, target_kind::weight}>(f).
template <target_list T, class F>
struct declared_loss : F {
    static constexpr target_list targets = T;
};
template <target_list T, class F>
constexpr declared_loss<T, F> expects(F f) {
    return {f};
}

/// expects<"label">(softmax_cross_entropy): the loss's target is the batch's column of this name,
/// wherever it stands. One name for each target, in their order, but none for weights:
/// expects<"price", "kind">(per_output(mse, softmax_cross_entropy)), or each loss by itself,
/// per_output(expects<"price">(mse), expects<"kind">(softmax_cross_entropy)). A batch whose columns
/// have no names is taken in their order. Of a loss's targets all have names or none.
template <class L, compiler::text... T>
struct named_targets : L {
    static_assert(((sizeof(T.c) > 1) && ...), "expects: the name is empty");
    static constexpr target_names names{T.c...};
};
template <compiler::text... T, class L>
    requires(sizeof...(T) > 0)
constexpr named_targets<L, T...> expects(L l) {
    return {l};
}

} // namespace sinter
