// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/distinct_keys.hpp>

namespace sinter::cpu {

/// p[2][key][N] = the sum of the rows of D [m][N] (p[1]) of the examples that have the key, in their order. p[0] = keys.
struct distinct_sums {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const distinct_shape s(c.e);
        const distinct_keys k(c.p[0], s, c.m);
        const std::int64_t n = k.column[s.columns];
        for (std::int64_t i = share(n, c.part, c.parts), end = share(n, c.part + 1, c.parts); i < end; ++i) {
            std::int64_t j = 0;
            for (; j + 8 * lanes <= s.outputs; j += 8 * lanes) sum<8>(i, j, k, s, c);
            for (; j < s.outputs; j += lanes) sum<1>(i, j, k, s, c);
        }
    }

private:
    template <int NV>
    static SINTER_INLINE void sum(std::int64_t i, std::int64_t j, const distinct_keys& k, const distinct_shape& s,
                                  const call& c) {
        vf t[NV];
        unroll<NV>([&](auto v) SINTER_ALWAYS { t[v] = zero(); });
        for (std::int32_t x = k.begin[i]; x < k.begin[i + 1]; ++x) {
            const float* d = c.p[1] + k.examples[x] * s.outputs + j;
            unroll<NV>([&](auto v) SINTER_ALWAYS { t[v] += load(d + v * lanes); });
        }
        unroll<NV>([&](auto v) SINTER_ALWAYS { store(c.p[2] + i * s.outputs + j + v * lanes, t[v]); });
    }
};

template <class Body, int... X>
struct nest<op::distinct_sums, Body, X...> { using type = distinct_sums; };

} // namespace sinter::cpu
