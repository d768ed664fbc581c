// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/options.hpp>
#include <sinter/compiler/target.hpp>

/// What a pass is. Each has a file of its own and stands in list.hpp, which says in which order
/// passes run; nothing else names them. A pass describes itself by a type in namespace pass:
///
///     struct my_pass {
///         static constexpr bool enabled(const target& t, const program_options& o) { return o.fuse && t.my_kernels; }
///         static constexpr void run(graph_view, view<node>, const pass_settings&);
///     };
///
/// What else `run` is given depends on the list in which the pass stands.
namespace sinter::inline SINTER_TARGET::compiler {

/// What decides whether and how a pass runs, besides the graph.
struct pass_settings {
    sinter::compiler::target target;
    program_options options;
    int max_batch = 1;
};

template <class... Passes>
struct pass_list {
    static constexpr int size = sizeof...(Passes);
    /// Runs those that are enabled, in their order.
    template <class... Given>
    static constexpr void run(const pass_settings& s, Given&... given) {
        ((Passes::enabled(s.target, s.options) ? Passes::run(given..., s) : void()), ...);
    }
};

} // namespace sinter::compiler
