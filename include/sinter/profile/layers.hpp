// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/text.hpp>

namespace sinter::profile {

/// One layer of a net: what lies in one scope. Operations are those of the forward pass, for one example.
struct layer_text {
    std::string name, out;
    std::int64_t parameters = 0, flops = 0;
};

inline std::vector<layer_text> layers_of(const program_text& t) {
    std::vector<layer_text> all;
    for (int s = 0; s < t.g.scopes.n; ++s) {
        layer_text l;
        for (const variable& v : t.g.parameters)
            if (v.scope == s) l.parameters += t.g.n[v.id].s.size();
        int last = -1;
        for (int i = 0; i < t.forward_nodes; ++i) {
            const node& n = t.g.n[i];
            if (n.scope != s || is_leaf(n.k)) continue;
            const batch_count c = sinter::detail::flops_of(t.g, n);
            l.flops += c.per_example + c.once;
            last = i;
        }
        if (last < 0 && !l.parameters) continue;
        l.name = s ? scope_path(t.g.scopes, s) : "(outside of layers)";
        l.out = text_of(last < 0 ? shape{} : t.g.n[last].s);
        all.push_back(l);
    }
    return all;
}

} // namespace sinter::profile
