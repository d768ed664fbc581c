// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/unique_rows/unique_keys.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// sums[key][N] = the sum of the rows of D [m][N] of the examples that have this key, from the last
/// to the first. How many examples a key has is a coin's toss, so nothing branches on it: each
/// example adds its row to the sum, which is stored, and of which nothing is kept behind a key's
/// first example.
struct unique_sums {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const unique_shape s(c.e);
        const unique_keys k(c.p[unique_sums_operand::keys], s, c.m);
        for_each_column(k, s, c, [&](std::int64_t column, std::int64_t begin, std::int64_t end) {
            for_each_block(s.outputs, [&](auto vectors, std::int64_t j) SINTER_ALWAYS {
                add<vectors>(begin, end, k.before + column * c.m, j, k, s, c);
            });
        });
    }

private:
    template <int NV>
    __attribute__((noinline)) static void add(std::int64_t key, std::int64_t end, const std::int32_t* before,
                                              std::int64_t j, const unique_keys& k, const unique_shape& s,
                                              const call& c) {
        const std::int32_t* const last = k.last;
        const std::int64_t outputs = s.outputs;
        const float* const d = c.p[unique_sums_operand::d] + j;
        float* const to = c.p[unique_sums_operand::sums] + j;
        vf sum[std::size_t{NV}];
        clear_block(sum);
        std::int32_t kept = 0;
        for (std::int32_t a = last[key]; key < end;) {
            const float* const row = d + static_cast<std::uint32_t>(a) * outputs;
            const vi mask = splat(kept);
            unroll<NV>([&](int v) SINTER_ALWAYS { sum[v] = (vf)((vi)sum[v] & mask) + load(row + v * lanes); });
            store_block<NV>(sum, to + key * outputs, 0);
            const std::int32_t b = before[static_cast<std::uint32_t>(a)], first = b >> 31;
            a = b ^ ((b ^ last[key + 1]) & first);
            key -= first;
            kept = ~first;
        }
    }
};

template <class Body, int... X>
struct nest<op::unique_sums, Body, X...> { using type = unique_sums; };

} // namespace sinter::cpu
