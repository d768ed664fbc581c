// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/bundle.hpp>

/// What a layer is, and what layers derive from.
namespace sinter::inline SINTER_TARGET {

struct layer_tag {};
template <class L>
concept is_layer = std::is_base_of_v<layer_tag, L>;
/// Layers, and users' lambdas over tensors, if they hold no values: a net is a type, in which
/// members and captures would be lost.
template <class F>
concept composable = std::is_empty_v<F> && (is_layer<F> || detail::arity<F>() != 0);

namespace detail {
// Concepts of their own, because D is incomplete while its base is made, and clang 14 looks at
// other conditions then.
template <class D, class... T>
concept traced_from = (std::is_same_v<T, tensor> && ...) && requires(T... x) { D::trace(x...); };
template <class D, class B>
concept traced_bundle = std::is_same_v<B, bundle> && requires(B x) { D::trace(x[0]); } &&
                        (requires(B x) { D::trace(x[0], x[0]); } || requires(B x) { D::trace(x[0], x[0], x[0]); });
template <class D, class... T>
concept run_with = (std::is_same_v<T, tensor> && ...) && (D::arity < 0 || D::arity == sizeof...(T));

/// In the place of what is refused, so that one error is not followed by others.
struct refused_layer : layer_tag {
    constexpr tensor operator()(tensor x) const { return x; }
};
template <class F>
constexpr refused_layer refuse_layer() {
    static_assert(
        std::is_void_v<F>,
        "named, shared, checkpoint and initialized take layers, and this is none. A layer, as a lambda, takes one "
        "to six tensors and holds no values: members and captures must become constants or template arguments");
    return {};
}
template <class D>
concept named_scope = requires { D::name; };
} // namespace detail

template <class D>
struct layer;

namespace detail {
/// A layer's call with as many tensors as D::trace takes. No lambda: nvcc 13.0 loses a lambda's own
/// constraint.
template <class D>
struct traced_call {
    template <class... T>
        requires traced_from<D, T...>
    constexpr tensor operator()(T... t) const {
        return layer<D>{}(t...);
    }
};
} // namespace detail

/// Base of a layer that owns a scope: D::name names it, D::trace says what it computes, of one
/// tensor or of several.
template <class D>
struct layer : layer_tag {
    template <class... T>
        requires detail::traced_from<D, T...>
    constexpr auto operator()(T... x) const {
        compiler::graph* const g = detail::graph_of(x...);
        if (!(x.ok() && ...)) return decltype(D::trace(x...))(tensor{g, -1});
        static_assert(detail::named_scope<D>,
                      "what derives from layer<...> names the scope of its parameters: static constexpr "
                      "const char* name = \"...\"; (without parameters: plain_layer<...>)");
        if constexpr (detail::named_scope<D>) {
            const compiler::scoped s(g, D::name);
            return D::trace(x...);
        } else {
            return D::trace(x...);   // so that the missing name is the one error
        }
    }
    /// The tensors of a bundle, for layers that take one tensor or more.
    template <class B>
        requires detail::traced_bundle<D, B>
    constexpr tensor operator()(B x) const {
        return detail::call_by_number(detail::traced_call<D>{}, x, D::name);
    }
};
/// Base of a layer without parameters or a scope of its own.
template <class D>
struct plain_layer : layer_tag {
    constexpr tensor operator()(tensor x) const { return x.ok() ? D::trace(x) : x; }
};
/// Base of a layer around others: it takes D::arity tensors, or any bundle, and D::run(bundle)
/// gives D::gives_one.
template <class D>
struct block_layer : layer_tag {
    template <class... T>
        requires detail::run_with<D, T...>
    constexpr auto operator()(T... x) const {
        return (*this)(bundle(x...));
    }
    template <class B>
        requires std::is_same_v<B, bundle>   // a tensor would do as a bundle, too
    constexpr auto operator()(B x) const {
        if constexpr (D::gives_one) return D::run(x)[0];
        else return D::run(x);
    }
};

} // namespace sinter
