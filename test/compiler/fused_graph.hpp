// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "compiler/invariants.hpp"

namespace sinter::test {
using namespace compiler;

/// A graph written by hand, and what fusion made of it.
struct fused_graph {
    passes p;
    graph& g = p.g;

    void need(std::initializer_list<tensor> outputs) {
        for (const tensor& t : outputs) g.outputs.push(t.id);
    }
    /// The number of groups, which are sound.
    int checked_groups() {
        check_groups(p);
        int n = 0;
        for (int i = 0; i < p.f.groups; ++i) n += p.f.g[i].root >= 0;
        return n;
    }
    int of(tensor t) { return p.f.of[base_of(g.n, t.id)]; }
    bool stored(tensor t) { return p.f.stored[base_of(g.n, t.id)]; }
};

} // namespace sinter::test
