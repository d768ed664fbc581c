// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/tensor.hpp>
#include <type_traits>

/// Several tensors at once: what a net with several inputs or outputs passes from layer to layer.
namespace sinter::inline SINTER_TARGET {

/// So many tensors of one graph, at most `most`.
struct bundle {
    static constexpr int most = 6;
    int n = 0;
    tensor t[most] = {};
    compiler::graph* g = nullptr;

    constexpr bundle() = default;
    constexpr bundle(tensor a) : n(1), t{a}, g(a.g) {}
    template <class... T>
        requires(sizeof...(T) > 1 && sizeof...(T) <= most && (std::is_same_v<T, tensor> && ...))
    constexpr bundle(T... a) : n(sizeof...(T)), t{a...}, g(t[0].g) {}
    constexpr tensor operator[](int i) const { return i < n ? t[i] : tensor{g, -1}; }
    constexpr bool ok() const {   ///< false after a fault
        for (int i = 0; i < n; ++i)
            if (!t[i].ok()) return false;
        return n > 0;
    }
};

/// What a function of several outputs returns: `return outputs(a, b);`
template <class... T>
constexpr bundle outputs(T... a) {
    return bundle(a...);
}

namespace detail {

template <class... T>
constexpr graph* graph_of(tensor first, T...) {
    return first.g;
}

inline constexpr int any_number = -1;

/// A layer whose trace takes one tensor, or more: lengths, weights, a memory.
template <class F>
concept traces_several = requires(tensor x) { F::trace(x); } &&
                         (requires(tensor x) { F::trace(x, x); } || requires(tensor x) { F::trace(x, x, x); });
/// What f gives for as many tensors as x has, one to three.
template <class F>
constexpr tensor call_by_number(F f, const bundle& x, const char* name) {
    constexpr bool two = std::is_invocable_v<F, tensor, tensor>, three = std::is_invocable_v<F, tensor, tensor, tensor>;
    if (x.n == 1) return f(x[0]);
    if constexpr (two)
        if (x.n == 2) return f(x[0], x[1]);
    if constexpr (three)
        if (x.n == 3) return f(x[0], x[1], x[2]);
    return x.g ? fail(x.g, fault_kind::wrong_number_of_inputs, op_name(name), extents(x.n), extents(three ? 3 : 2))
               : tensor{};
}

/// Does F take a bundle? Generic lambdas are not asked, for their bodies might not compile: a
/// requirement stops at the first that fails, where && would look at both.
template <class F>
concept takes_a_bundle = requires {
    &F::operator();
    requires std::is_invocable_v<F, bundle>;
};
/// How many tensors F takes.
template <class F>
constexpr int arity() {
    if constexpr (requires { F::arity; }) return F::arity;
    else if constexpr (traces_several<F>) return any_number;
    else if constexpr (takes_a_bundle<F>) return any_number;
    else if constexpr (std::is_invocable_v<F, tensor>) return 1;
    else if constexpr (std::is_invocable_v<F, tensor, tensor>) return 2;
    else if constexpr (std::is_invocable_v<F, tensor, tensor, tensor>) return 3;
    else if constexpr (std::is_invocable_v<F, tensor, tensor, tensor, tensor>) return 4;
    else if constexpr (std::is_invocable_v<F, tensor, tensor, tensor, tensor, tensor>) return 5;
    else if constexpr (std::is_invocable_v<F, tensor, tensor, tensor, tensor, tensor, tensor>) return 6;
    else return 0;
}

/// Calls a layer or a user's function with the tensors of x; a lone tensor comes back as what it
/// is.
template <class F>
constexpr auto apply(const bundle& x) {
    constexpr int n = arity<F>();
    if constexpr (n == any_number) return F{}(x);
    else if constexpr (n == 1) return F{}(x[0]);
    else if constexpr (n == 2) return F{}(x[0], x[1]);
    else if constexpr (n == 3) return F{}(x[0], x[1], x[2]);
    else if constexpr (n == 4) return F{}(x[0], x[1], x[2], x[3]);
    else if constexpr (n == 5) return F{}(x[0], x[1], x[2], x[3], x[4]);
    else return F{}(x[0], x[1], x[2], x[3], x[4], x[5]);
}
/// Does F give one tensor, rather than a bundle?
template <class F>
constexpr bool gives_one() {
    if constexpr (requires { F::gives_one; }) return F::gives_one;
    else if constexpr (arity<F>() == 0) return true;   // call() says what is wrong
    else return std::is_same_v<decltype(apply<F>(bundle{})), tensor>;
}

/// The same, after a look at how many there are.
template <class F>
constexpr bundle call(bundle x) {
    constexpr int n = arity<F>();
    static_assert(n != 0,
                  "a layer must be callable with one to six sinter::tensor, or a sinter::bundle; one that derives from "
                  "layer<...> by its static constexpr tensor trace(tensor)");
    if constexpr (n == 0) {
        return x;
    } else if constexpr (!std::is_convertible_v<decltype(apply<F>(bundle{})), bundle>) {
        static_assert(std::is_void_v<F>, "a layer gives a tensor, or a bundle by outputs(a, b): this function gives "
                                         "something else, or nothing");
        return x;
    } else {
        if (n > 0 && x.n != n) {
            if (x.g) x.g->fail(fault_kind::wrong_number_of_inputs, op::input, extents(x.n), extents(n));
            return tensor{x.g, -1};
        }
        return apply<F>(x);
    }
}

} // namespace detail

} // namespace sinter
