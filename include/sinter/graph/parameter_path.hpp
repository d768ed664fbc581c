// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/leaves.hpp>

/// Parameters' paths as text.
namespace sinter::inline SINTER_TARGET::detail {

struct path_text {
    char c[256] = {};
    int n = 0;

    constexpr path_text(const graph& g, const variable& v) {
        g.scopes.write_path(v.scope, c, n, 200);
        if (n) scope_tree::append(c, n, 255, "/");
        scope_tree::append(c, n, 255, v.name);
    }
};

/// The fault of a pattern that no parameter matches: it stands in the layer's place.
constexpr void fail_unmatched(graph& g, const char* pattern) {
    if (g.err.what != fault_kind::none) return;
    g.fail(fault_kind::no_parameter_matches, op::parameter, extents(0), extents(g.parameters.n));
    g.err.path_length = 0;
    scope_tree::append(g.err.path, g.err.path_length, fault::max_path - 1, pattern);
}

} // namespace sinter::detail
