// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/plan/plan.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// The tables of a compiled program: values that it does not compute but finds (ops/table.hpp).
template <class P>
class program_tables {
    static constexpr int count = [] {
        int n = 0;
        each_table(P::graph.n, [&](int, std::int64_t) { ++n; });
        return n;
    }();
    struct entry {
        void (*fill)(float*, const shape&, float) = nullptr;
        shape s;
        float f = 0;
        std::int64_t at = 0;
    };
    struct list {
        entry e[std::size_t{count + 1}] = {};
    };
    static constexpr list all = [] {
        list l;
        int n = 0;
        if (count) each_table(P::graph.n, [&](int v, std::int64_t at) {
            l.e[n++] = {P::graph.n[v].fill, P::graph.n[v].s, P::graph.n[v].f, at};
        });
        return l;
    }();

public:
    static constexpr std::int64_t floats = count ? each_table(P::graph.n, [](int, std::int64_t) {}) : 0;
    static void fill(float* memory) {
        for (int i = 0; i < count; ++i) all.e[i].fill(memory + all.e[i].at, all.e[i].s, all.e[i].f);
    }
};

} // namespace sinter::runtime
