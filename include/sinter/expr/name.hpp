// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/graph/text.hpp>

/// Names chosen by the user, weights used more than once, blocks recomputed in backward.
namespace sinter::inline SINTER_TARGET {

namespace detail {
/// A layer's trace without the layer's own name.
template <class F>
struct unnamed {
    template <class... T>
        requires traced_from<F, T...>
    constexpr auto operator()(T... x) const {
        return F::trace(x...);
    }
    static constexpr int arity = detail::arity<F>();
    template <class B>
        requires(std::is_same_v<B, bundle> && traces_several<F>)
    constexpr tensor operator()(B x) const {
        return call_by_number(unnamed{}, x, F::name);
    }
};
/// Runs F inside the scope `name`, which replaces a layer's own.
template <class F>
constexpr bundle call_named(const char* name, bundle x) {
    if (!x.ok()) return tensor{x.g, -1};
    const int old = x.g->scope;
    constexpr bool one_layer = std::is_base_of_v<layer<F>, F>;
    x.g->go_to(x.g->scopes.enter(name, old, !one_layer));
    using inner = std::conditional_t<one_layer, unnamed<F>, F>;
    const bundle y = call<inner>(x);
    x.g->scope = old;
    return y;
}
/// What a block around F takes and gives.
template <class D, class F>
struct block_of : block_layer<D> {
    static constexpr int arity = detail::arity<F>();
    static constexpr bool gives_one = detail::gives_one<F>();
};
} // namespace detail

/// `named<"logits">(dense<10>)`: parameters `logits/kernel` and `logits/bias`. Two layers of one
/// name are an error.
template <compiler::text T, class F>
struct named_layer : detail::block_of<named_layer<T, F>, F> {
    static constexpr bundle run(bundle x) { return detail::call_named<F>(T.c, x); }
};
template <compiler::text T, composable F>
constexpr named_layer<T, F> named(F) {
    return {};
}
template <compiler::text T, class F>
    requires(!composable<F>)
constexpr auto named(F) {
    return detail::refuse_layer<F>();
}

/// `shared<"tower">(block)`: wherever it is applied in the same scope, the same parameters.
template <compiler::text T, class F>
struct shared_layer : detail::block_of<shared_layer<T, F>, F> {
    static constexpr bundle run(bundle x) {
        if (!x.ok()) return tensor{x.g, -1};
        const bool old = x.g->sharing;
        x.g->sharing = true;
        const bundle y = detail::call_named<F>(T.c, x);
        x.g->sharing = old;
        return y;
    }
};
template <compiler::text T, composable F>
constexpr shared_layer<T, F> shared(F) {
    return {};
}
template <compiler::text T, class F>
    requires(!composable<F>)
constexpr auto shared(F) {
    return detail::refuse_layer<F>();
}

/// `checkpoint(block)`: keeps only the block's inputs and results in training and computes what
/// lies between once more when backward needs it: less memory for about a third more work (Chen et
/// al. 2016).
template <class F>
struct checkpoint_layer : detail::block_of<checkpoint_layer<F>, F> {
    static constexpr bundle run(bundle x) {
        if (!x.ok()) return tensor{x.g, -1};
        const int first = x.g->n.n;
        const bundle y = detail::call<F>(x);
        for (int i = first; i < x.g->n.n; ++i)
            if (x.g->n[i].loop || x.g->open_loop) {
                x.g->fail(fault_kind::no_loop_here, op_name("checkpoint"), extents(), extents());
                break;
            }
        if (x.g->mode() == program_mode::training && x.g->n.n > first + 1) {
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
template <class F>
    requires(!composable<F>)
constexpr auto checkpoint(F) {
    return detail::refuse_layer<F>();
}

} // namespace sinter
