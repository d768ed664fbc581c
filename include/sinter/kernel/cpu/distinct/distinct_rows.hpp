// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/distinct/distinct_keys.hpp>

namespace sinter::cpu {

/// The keys of c.m examples. p[0] = table [V][E], p[1] = int32 indices [m][C], checked when the batch was bound; p[2] = the
/// keys; e[6] = V. One part does all. Column by column, and within a column in the order of first use: so a row's number of key,
/// remembered by row, tells whether it is this column's or an earlier one's.
struct find_distinct_rows {
    static constexpr std::int64_t slots(std::int64_t rows, std::int64_t lookups) {
        std::int64_t n = 16;
        while (n < 2 * lookups) n *= 2;
        return rows < n ? rows : n;   // a slot for each row, or a hash table
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) { return 2 * slots(e[6], m * e[0]); }

    static void run(const call& c) {
        if (c.part != 0) return;
        const distinct_shape s(c.e);
        const distinct_keys k(c.p[2], s, c.m);
        const std::int64_t n = slots(c.e[6], c.m * s.columns), C = s.columns;
        auto* last = reinterpret_cast<std::int32_t*>(c.scratch);   // each row's latest key; of a hash table, whose slots follow
        std::memset(last, -1, 4 * static_cast<std::size_t>(n));
        std::memset(k.begin, 0, 4 * static_cast<std::size_t>(c.m * C + 1));
        std::int32_t keys = 0, heads = 0;
        for (std::int64_t j = 0; j < C; ++j) {
            const std::int32_t first = keys;
            k.column[j] = first;
            keys = n < c.e[6] ? find<true>(k, first, j, C, n, last, c) : find<false>(k, first, j, C, n, last, c);
            std::int32_t at = static_cast<std::int32_t>(j * c.m);
            for (std::int32_t key = first; key < keys; ++key) {
                const std::int32_t before = k.next[key], count = k.begin[key + 1];
                if (before < 0) k.heads[heads++] = key;
                else k.next[before] = key;
                k.next[key] = -1;
                k.begin[key + 1] = at;   // where its examples begin, and soon where they end
                at += count;
            }
            const std::int32_t* key = k.key_of + j;
            for (std::int32_t i = 0; i < c.m; ++i, key += C) k.uses[k.begin[*key + 1]++] = {i, *key};
        }
        k.column[C] = keys;
        *k.head_count = heads;
        for (std::int32_t key = 0; key < keys; ++key) {
            const float* from = c.p[0] + k.row[key] * s.width;
            float* to = k.rows + key * s.width;
            std::int64_t j = 0;
            for (; j + lanes <= s.width; j += lanes) store(to + j, load(from + j));
            for (; j < s.width; ++j) to[j] = from[j];
        }
    }

private:
    /// Column j's keys from `first` on; returns their end. A new key's `next` is for now the row's key before, its `begin` of the
    /// next key how many examples it has. Whether a row is new is a coin's toss, so nothing branches on it: what is
    /// written behind the last key is written over.
    template <bool Hashed>
    __attribute__((noinline)) static std::int32_t find(const distinct_keys& k, std::int32_t first, std::int64_t j, std::int64_t C,
                                                       std::int64_t n, std::int32_t* last, const call& c) {
        const auto* index = reinterpret_cast<const std::int32_t*>(c.p[1]) + j;
        std::int32_t *const slot_row = last + n, *const rows = k.row, *const before = k.next, *const count = k.begin + 1;
        std::int32_t *key_of = k.key_of + j, keys = first;
        for (std::int64_t i = c.m; i > 0; --i, index += C, key_of += C) {
            const std::int32_t row = *index;
            std::int64_t slot = row;
            if constexpr (Hashed) {
                slot = (static_cast<std::uint32_t>(row) * 2654435761u >> 7) & (n - 1);
                while (last[slot] >= 0 && slot_row[slot] != row) slot = (slot + 1) & (n - 1);
                slot_row[slot] = row;
            }
            const std::int32_t latest = last[slot], fresh = -(latest < first), key = latest ^ ((latest ^ keys) & fresh);
            rows[keys] = row;
            before[keys] = latest;
            keys -= fresh;
            last[slot] = key;
            *key_of = key;
            ++count[key];
        }
        return keys;
    }
};

template <class Body, int... X>
struct nest<op::distinct_rows, Body, X...> { using type = find_distinct_rows; };

} // namespace sinter::cpu
