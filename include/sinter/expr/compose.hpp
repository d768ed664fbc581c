// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/layer.hpp>

/// Composition: `a >> b >> c` builds one flat type, whatever its length; an input at its head makes
/// it a net.
namespace sinter::inline SINTER_TARGET {

/// Layers one after the other. A table of function pointers instead of a fold: no depth, no limit
/// on length.
template <class... L>
struct sequence : block_layer<sequence<L...>> {
    static constexpr int arity = [] {
        constexpr int n[] = {detail::arity<L>()...};
        return n[0];
    }();
    static constexpr bool gives_one = [] {
        constexpr bool one[] = {detail::gives_one<L>()...};
        return one[sizeof...(L) - 1];
    }();
    static constexpr bundle run(bundle x) {
        using fn = bundle (*)(bundle);
        constexpr fn step[] = {&detail::call<L>...};
        for (fn f : step) x = f(x);
        return x;
    }
};

namespace detail {
template <class L>
struct as_sequence {
    using type = sequence<L>;
};
template <class... L>
struct as_sequence<sequence<L...>> {
    using type = sequence<L...>;
};
template <class A, class B>
struct join;
template <class... A, class... B>
struct join<sequence<A...>, sequence<B...>> {
    using type = sequence<A..., B...>;
};
} // namespace detail

/// The head of a net: what goes in.
struct input_tag {};
struct model_tag {};

namespace detail {
/// A whole net's layers are kept in rows of so many: each `>>` makes a new type, and one that named
/// every layer of a long net anew would cost a compiler time that grows with the square of its
/// length.
inline constexpr int row_length = 32;
} // namespace detail

/// I: input specification. The layers of Rows, each a sequence, come first, then those of S.
template <class I, class S, class... Rows>
struct model : model_tag {
    static constexpr bundle trace(compiler::graph& g) {
        using fn = bundle (*)(bundle);
        constexpr fn row[] = {&Rows::run..., &S::run};
        bundle x = I::make_inputs(g);
        for (fn f : row) x = f(x);
        return x;
    }
    using input_type = I;
    static constexpr bool gives_one = S::gives_one;
};

namespace detail {
template <class M, class B>
struct extend;
template <class I, class... A, class... Rows, class... B>
struct extend<model<I, sequence<A...>, Rows...>, sequence<B...>> {
    using type = model<I, sequence<A..., B...>, Rows...>;
};
template <class I, class... A, class... Rows, class... B>
    requires(sizeof...(A) >= row_length)
struct extend<model<I, sequence<A...>, Rows...>, sequence<B...>> {
    using type = model<I, sequence<B...>, Rows..., sequence<A...>>;
};
} // namespace detail

template <class A, class B>
    requires(!std::is_base_of_v<model_tag, A> && composable<A> && composable<B> && (is_layer<A> || is_layer<B>))
constexpr auto operator>>(A, B) {
    return typename detail::join<typename detail::as_sequence<A>::type, typename detail::as_sequence<B>::type>::type{};
}
template <class I, class B>
    requires(std::is_base_of_v<input_tag, I> && composable<B>)
constexpr auto operator>>(I, B) {
    return model<I, typename detail::as_sequence<B>::type>{};
}
template <class M, class B>
    requires(std::is_base_of_v<model_tag, M> && composable<B>)
constexpr auto operator>>(M, B) {
    return typename detail::extend<M, typename detail::as_sequence<B>::type>::type{};
}

namespace detail {
template <class A>
concept begins_net = std::is_base_of_v<model_tag, A> || std::is_base_of_v<input_tag, A> || is_layer<A>;
} // namespace detail

/// What stands behind `>>` is a type. A function is none: said here, for `>> tanh`, which <cmath>
/// and sinter have as functions, is easily written.
template <detail::begins_net A>
constexpr A operator>>(A a, tensor (*)(tensor)) {
    static_assert(std::is_void_v<A>,
                  ">> takes layers, not functions: tanh and exp are activation::tanh and activation::exp; another "
                  "function f is >> [](tensor x) { return f(x); }");
    return a;
}
/// Nor is what has values of its own, as a lambda's captures are.
template <detail::begins_net A, class B>
    requires((std::is_class_v<B> || std::is_arithmetic_v<B>) && !composable<B>)
constexpr A operator>>(A a, B) {
        static_assert(std::is_void_v<A>,
                      ">> takes layers, and this is none. A lambda is one if it takes one to six tensors, or a bundle, "
                      "and captures nothing. What it captures, and members of a class, must become constants or "
                      "template arguments");
        return a;
}

/// The same, said of what stands before it: the layer after it is sound.
template <class A, class B>
    requires(is_layer<A> && !composable<A> && composable<B>)
constexpr B operator>>(A, B b) {
    static_assert(std::is_void_v<B>,
                  ">> takes layers, and what stands before it is none: members of a class must become constants or "
                  "template arguments");
    return b;
}

} // namespace sinter
