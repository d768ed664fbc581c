// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>

/// Names chosen by the user, weights used more than once, blocks recomputed in backward.
namespace sinter {

template <int N>
struct text {
    char c[N];
    constexpr text(const char (&s)[N]) {
        for (int i = 0; i < N; ++i) c[i] = s[i];
    }
};

namespace detail {
template <class F>
concept has_scope = requires(tensor x) { F::trace(x); F::name; };

/// Runs F inside the scope `name`; a layer's own name is replaced by it.
template <class F>
constexpr bundle call_named(graph* g, const char* name, bundle x) {
    const int old = g->scope;
    g->scope = g->scopes.enter(name, old);
    bundle y;
    if constexpr (has_scope<F>) y = F::trace(x[0]);
    else y = call<F>(x);
    g->scope = old;
    return y;
}
} // namespace detail

/// `named<"logits">(dense<10>)`: parameters `logits/kernel` and `logits/bias`. Two layers of one name are an error.
template <text T, class F>
struct named_layer : layer_tag {
    constexpr tensor operator()(tensor x) const { return x.ok() ? detail::call_named<F>(x.g, T.c, x)[0] : x; }
};
template <text T, composable F>
constexpr named_layer<T, F> named(F) {
    return {};
}

/// `shared<"tower">(block)`: wherever it is applied in the same scope, the same parameters.
template <text T, class F>
struct shared_layer : layer_tag {
    constexpr tensor operator()(tensor x) const {
        if (!x.ok()) return x;
        const bool old = x.g->sharing;
        x.g->sharing = true;
        const tensor y = detail::call_named<F>(x.g, T.c, x)[0];
        x.g->sharing = old;
        return y;
    }
};
template <text T, composable F>
constexpr shared_layer<T, F> shared(F) {
    return {};
}

/// `checkpoint(block)`: keeps only the block's input and result in training and computes what lies between once more
/// when backward needs it: less memory for about a third more work (Chen et al. 2016).
template <class F>
struct checkpoint_layer : layer_tag {
    constexpr tensor operator()(tensor x) const {
        if (!x.ok()) return x;
        const int first = x.g->n.n;
        const tensor y = F{}(x);
        if (x.g->mode == program_mode::training && x.g->n.n > first + 1) {
            x.g->regions.push(first);
            x.g->regions.push(x.g->n.n - 1);
        }
        return y;
    }
};
template <composable F>
constexpr checkpoint_layer<F> checkpoint(F) {
    return {};
}

} // namespace sinter
