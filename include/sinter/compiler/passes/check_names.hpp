// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/parameter_path.hpp>

/// No two parameters or states may have one path: saved files know them by it. Within a scope that
/// is seen when they are made; this finds the rest, such as `named<"a">` around two different
/// blocks, or around one that is numbered so already.
namespace sinter::inline SINTER_TARGET::detail {

constexpr unsigned continue_hash(unsigned h, const char* s) {
    while (*s) h = (h ^ static_cast<unsigned char>(*s++)) * 16777619u;
    return h;
}

} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

constexpr void check_names(graph& g) {
    const int scopes = g.scopes.size(), all = g.parameters.n + g.states.n;
    growing<unsigned> path(scopes, 2166136261u);   // hash of each scope's path; a parent comes before its children
    for (int i = 1; i < scopes; ++i) {
        const scope_entry& s = g.scopes[i];
        unsigned h = detail::continue_hash(detail::continue_hash(path[s.parent], "/"), s.name);
        char digits[12] = {};
        int d = 11;
        for (int v = s.number; v; v /= 10) digits[--d] = static_cast<char>('0' + v % 10);
        path[i] = s.number ? detail::continue_hash(detail::continue_hash(h, "_"), digits + d) : h;
    }
    const int size = 2 * all + 1;
    growing<int> table(size, -1);
    growing<unsigned> hash(all, 0u);
    auto at = [&](int i) -> const variable& {
        return i < g.parameters.n ? g.parameters[i] : g.states[i - g.parameters.n];
    };
    for (int i = 0; i < all; ++i) {
        const variable& v = at(i);
        hash[i] = detail::continue_hash(detail::continue_hash(path[v.scope], "/"), v.name);
        int slot = static_cast<int>(hash[i] % static_cast<unsigned>(size));
        for (; table[slot] >= 0; slot = (slot + 1) % size) {
            const variable& other = at(table[slot]);
            if (hash[table[slot]] != hash[i] || !same_name(detail::path_text(g, v).c, detail::path_text(g, other).c))
                continue;
            g.scope = v.scope;
            g.fail(fault_kind::parameter_name_used_twice, g.n[v.id].about->self, g.n[v.id].s, g.n[other.id].s);
            return;
        }
        table[slot] = i;
    }
}

} // namespace sinter::compiler
