// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/initializer.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/graph/parameter_path.hpp>

/// First values chosen by the user instead of the layer.
namespace sinter::inline SINTER_TARGET {

/// How a parameter starts, as a template argument: an initialiser, or one that wants fan_in, or
/// fan_in and fan_out, which are then those of the parameter's extents.
struct initializer_choice {
    initializer fixed{};
    by_fan_in by_inputs{};
    by_both_fans by_both{};

    consteval initializer_choice(initializer i) : fixed(i) {}
    consteval initializer_choice(by_fan_in i) : by_inputs(i) {}
    consteval initializer_choice(by_both_fans i) : by_both(i) {}

    /// Fans as Keras reckons them: [..., in, out], each times the window in front; [n] has n of
    /// both.
    constexpr initializer of(const shape& s) const {
        const int out = s.last(), in = s.rank > 1 ? s.d[s.rank - 2] : out, window = s.rank > 1 ? s.rows() / in : 1;
        return by_inputs.over > 0 ? by_inputs(window * in)
               : by_both.over > 0 ? by_both(window * in, window * out)
                                  : fixed;
    }
};

/// `initialized<he_normal, "*/kernel">(block)`: the block's parameters whose whole path, as
/// describe() shows it, matches one of the patterns start so, whatever their layers would choose.
/// Of several around one parameter the innermost decides. A pattern that none of the block's
/// parameters matches is a compile-time error.
template <initializer_choice I, class F, compiler::text... Patterns>
struct initialized_layer : detail::block_of<initialized_layer<I, F, Patterns...>, F> {
    static_assert(sizeof...(Patterns) > 0, "initialized: which parameters? A pattern such as \"*/kernel\" is missing");
    static constexpr bundle run(bundle x) {
        if (!x.ok()) return tensor{x.g, -1};
        constexpr const char* pattern[] = {Patterns.c...};
        compiler::graph& g = *x.g;
        const int first = g.parameters.n;
        const bundle y = detail::call<F>(x);
        const bool found_again = g.parameters.n == first;   // the block was applied before, under shared<...>
        bool used[sizeof...(Patterns)] = {};
        for (int i = found_again ? 0 : first; i < g.parameters.n; ++i) {
            compiler::variable& v = g.parameters[i];
            if (found_again && !in_shared(g, v.scope)) continue;
            const detail::path_text path(g, v);
            bool chosen = v.initialized;
            for (unsigned k = 0; k < sizeof...(Patterns); ++k) {
                if (!compiler::matches(pattern[k], path.c)) continue;
                used[k] = true;
                if (i >= first && !chosen) v.init = I.of(g.n[v.id].s);
                v.initialized = chosen = true;
            }
        }
        for (unsigned k = 0; k < sizeof...(Patterns); ++k)
            if (!used[k]) detail::fail_unmatched(g, pattern[k]);
        return y;
    }

private:
    static constexpr bool in_shared(const compiler::graph& g, int scope) {
        for (; scope > 0; scope = g.scopes[scope].parent)
            if (g.scopes.entered_again(scope)) return true;
        return false;
    }
};
template <initializer_choice I, compiler::text... Patterns, composable F>
constexpr initialized_layer<I, F, Patterns...> initialized(F) {
    return {};
}
template <initializer_choice I, compiler::text... Patterns, class F>
    requires(!composable<F> && !std::is_base_of_v<model_tag, F>)
constexpr auto initialized(F) {
    return detail::refuse_layer<F>();
}
/// The same for all layers of a net.
template <initializer_choice I, compiler::text... Patterns, class In, class S, class... Rows>
constexpr auto initialized(model<In, S, Rows...>) {
    return model<In, sequence<initialized_layer<I, sequence<Rows..., S>, Patterns...>>>{};
}

} // namespace sinter
