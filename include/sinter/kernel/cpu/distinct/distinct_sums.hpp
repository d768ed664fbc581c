// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/distinct/distinct_keys.hpp>

namespace sinter::cpu {

/// p[2][key][N] = the sum of the rows of D [m][N] (p[1]) of the examples that have the key, in their order. p[0] = keys.
struct distinct_sums {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const distinct_shape s(c.e);
        const distinct_keys k(c.p[0], s, c.m);
        for_each_column(k, s, c, [&](std::int64_t, std::int64_t first, std::int64_t last) {
            for_each_block(s.outputs, [&](auto vectors, std::int64_t j) SINTER_ALWAYS { sum<vectors>(first, last, j, k, s, c); });
        });
    }

private:
    /// The keys [first, last) of a column. How many examples a key has is a coin's toss, so nothing branches on it: each adds its
    /// row to the sum so far, which the first one leaves out, and what is not yet complete is written over.
    template <int NV>
    static SINTER_INLINE void sum(std::int64_t first, std::int64_t last, std::int64_t j, const distinct_keys& k, const distinct_shape& s,
                                  const call& c) {
        vf t[NV];
        clear_block(t);
        std::int32_t before = -1;
        for (const key_use *u = k.uses + k.begin[first], *const end = k.uses + k.begin[last]; u < end; ++u) {
            const vi same = splat(-static_cast<std::int32_t>(u->key == before));
            before = u->key;
            const float* d = c.p[1] + u->example * s.outputs + j;
            float* to = c.p[2] + u->key * s.outputs + j;
            unroll<NV>([&](int v) SINTER_ALWAYS {
                t[v] = (vf)((vi)t[v] & same) + load(d + v * lanes);
                store(to + v * lanes, t[v]);
                __builtin_prefetch(to + 4 * s.outputs + v * lanes, 1);   // sums of all keys lie far
            });
        }
    }
};

template <class Body, int... X>
struct nest<op::distinct_sums, Body, X...> { using type = distinct_sums; };

} // namespace sinter::cpu
