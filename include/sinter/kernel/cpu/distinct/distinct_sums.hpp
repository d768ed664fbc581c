// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/distinct/distinct_keys.hpp>

namespace sinter::cpu {

/// p[2][place][N] = the sum of the rows of D [m][N] (p[1]) of the examples that have the key of that place, from the last to the first.
/// Keys of one example have none. p[0] = keys. How many examples a key has is a coin's toss: so first all of a column's keys sum two, then
/// those that have more add a third, and so on.
struct distinct_sums {
    static constexpr bool only_divides = true;
    static constexpr std::int64_t scratch(const std::int64_t*, int parts, std::int64_t m) { return parts * m; }
    static void run(const call& c) {
        const distinct_shape s(c.e);
        const distinct_keys k(c.p[0], s, c.m);
        const std::int64_t n = k.sum[s.columns], from = share(n, c.part, c.parts), to = share(n, c.part + 1, c.parts);
        for (std::int64_t i = 0; i < s.columns; ++i) {
            const std::int64_t begin = k.sum[i] > from ? k.sum[i] : from, end = k.sum[i + 1] < to ? k.sum[i + 1] : to;
            if (begin < end)
                for_each_block(s.outputs, [&](auto vectors, std::int64_t j) SINTER_ALWAYS { add<vectors>(begin, end, i, j, k, s, c); });
        }
    }

private:
    struct unfinished {
        std::int32_t key, example;   ///< the last one that was added
    };
    template <int NV>
    static SINTER_INLINE void add(std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t j, const distinct_keys& k,
                                  const distinct_shape& s, const call& c) {
        const std::int32_t *const first = k.first, *const last = k.last, *const of_sum = k.of_sum, *const place = k.place;
        const std::int32_t* const before = k.before + column;
        const std::int64_t columns = s.columns, outputs = s.outputs;
        const float* const d = c.p[1] + j;
        float* const to = c.p[2] + j;
        auto* const left = reinterpret_cast<unfinished*>(c.scratch + static_cast<std::int64_t>(c.part) * c.m);
        std::int64_t n = 0;
        for (; begin < end; ++begin) {
            const std::int32_t key = of_sum[begin], b = last[key], a = before[b * columns];
            vf sum[NV], other[NV];
            load_block<NV>(sum, d + b * outputs, 0);
            load_block<NV>(other, d + a * outputs, 0);
            unroll<NV>([&](int v) SINTER_ALWAYS { sum[v] += other[v]; });
            store_block<NV>(sum, to + begin * outputs, 0);
            left[n] = {key, a};
            n += a != first[key];
        }
        for (std::int64_t more = 0; n > 0; n = more, more = 0)
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int32_t key = left[i].key, a = before[left[i].example * columns];
                vf row[NV];
                load_block<NV>(row, d + a * outputs, 0);
                add_block<NV>(row, to + place[key] * outputs, 0);
                left[more] = {key, a};
                more += a != first[key];
            }
    }
};

template <class Body, int... X>
struct nest<op::distinct_sums, Body, X...> { using type = distinct_sums; };

} // namespace sinter::cpu
