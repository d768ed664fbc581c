// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/unique_rows/unique_keys.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The keys of c.m examples. The table is [V][E], indices are int32 [m][C], checked when the batch
/// was bound; V is all_rows. One part does all. Column by column, and within a column in the order
/// of first use.
struct find_unique_rows {
    static constexpr std::int64_t slots(std::int64_t rows, std::int64_t lookups) {
        std::int64_t n = 16;
        while (n < 2 * lookups) n *= 2;
        return rows < n ? rows : n;   // a slot for each row, or a hash table
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) {
        return 2 * slots(e[unique_extent::all_rows], m * e[unique_extent::columns]);
    }

    static void run(const call& c) {
        if (c.part != 0) return;
        const unique_shape s(c.e);
        const unique_keys k(c.p[unique_rows_operand::keys], s, c.m);
        const std::int64_t n = slots(c.e[unique_extent::all_rows], c.m * s.columns), C = s.columns;
        const work w(c, n);
        std::memset(w.latest, -1, 4 * static_cast<std::size_t>(n));
        k.column[0] = 0;
        std::int32_t highest = -1;
        bool rises = true;   // rows do so from column to column: then each is one column's
        for (std::int64_t j = 0; j < C; ++j) {
            const auto offset = static_cast<std::uint32_t>(2 * (C - j) * c.m);
            k.column[j + 1] = n < c.e[unique_extent::all_rows] ? find<true>(k, w, k.column[j], offset, j, C, n, c)
                                         : find<false>(k, w, k.column[j], offset, j, C, n, c);
            place(k, w, highest, rises, j, C);
        }
        s.width == lanes ? copy_rows<true>(k, s, c) : copy_rows<false>(k, s, c);
        chain(k, w, k.column[C], rises, n, c);
    }

private:
    struct work {
        std::uint32_t *latest,
            *slot_row;   ///< of each row, or slot of a hash table: its latest key plus what find adds; its row
        const std::int32_t* index;
        work(const call& c, std::int64_t slots)
            : latest(reinterpret_cast<std::uint32_t*>(c.scratch)), slot_row(latest + slots),
              index(reinterpret_cast<const std::int32_t*>(c.p[unique_rows_operand::indices])) {}
        template <bool Hashed>
        SINTER_INLINE std::uint32_t& latest_of(std::uint32_t row, std::int64_t n) const {
            if constexpr (!Hashed) return latest[row];
            std::int64_t slot = (row * 2654435761u >> 7) & (n - 1);
            while (latest[slot] != nobody && slot_row[slot] != row) slot = (slot + 1) & (n - 1);
            slot_row[slot] = row;
            return latest[slot];
        }
    };
    static constexpr std::uint32_t nobody = 0xffffffffu;

    /// Column j's keys, from `from` on; returns their end. Whether a row is new cannot be foreseen,
    /// so nothing branches on it: a row's key is the smaller of the remembered one and the next of
    /// this column. For that keys are remembered with an offset, which falls from column to column
    /// by twice what keys can rise: those of earlier columns are then larger than any of this one.
    template <bool Hashed>
    __attribute__((noinline)) static std::int32_t find(const unique_keys& k, const work& by, std::int32_t from,
                                                       std::uint32_t offset, std::int64_t j, std::int64_t C,
                                                       std::int64_t n, const call& c) {
        const work w = by;
        const auto* index = reinterpret_cast<const std::uint32_t*>(w.index) + j;
        auto* key_of = reinterpret_cast<std::uint32_t*>(k.key_of) + j;
        std::int32_t *const last = k.last, *const before = k.before + j * c.m;
        std::uint32_t next = static_cast<std::uint32_t>(from) + offset;
        for (std::int32_t i = 0, m = static_cast<std::int32_t>(c.m); i < m; ++i, index += C, key_of += C) {
            std::uint32_t& latest = w.latest_of<Hashed>(*index, n);
            const std::uint32_t seen = latest, mine = seen < next ? seen : next, key = mine - offset;
            latest = mine;
            *key_of = key;
            const std::int32_t fresh = next < seen;
            before[i] = last[key] | -fresh;
            last[key] = i;
            next += static_cast<std::uint32_t>(fresh);
        }
        return static_cast<std::int32_t>(next - offset);
    }
    /// The rows of column j's keys.
    __attribute__((noinline)) static void place(const unique_keys& k, const work& w, std::int32_t& highest, bool& rises,
                                                std::int64_t j, std::int64_t C) {
        const std::int32_t *const last = k.last, *const index = w.index + j;
        std::int32_t* const rows = k.row;
        std::int32_t least = INT32_MAX, most = highest;
        for (std::int64_t key = k.column[j], end = k.column[j + 1]; key < end; ++key) {
            const std::int32_t row = index[last[key] * C];
            rows[key] = row;
            least = row < least ? row : least;
            most = row > most ? row : most;
        }
        rises = rises && least > highest;
        highest = most;
    }
    /// `One`: a row is one vector.
    template <bool One>
    __attribute__((noinline)) static void copy_rows(const unique_keys& k, const unique_shape& s, const call& c) {
        const std::int64_t width = One ? lanes : s.width;
        const std::int32_t* const row = k.row;
        float* to = k.rows;
        for (std::int64_t key = 0, keys = k.column[s.columns]; key < keys; ++key, to += width) {
            const float* from = c.p[unique_rows_operand::table] + row[key] * width;
            std::int64_t j = 0;
            for (; j + lanes <= width; j += lanes) store(to + j, load(from + j));
            for (; j < width; ++j) to[j] = from[j];
        }
    }
    /// Which keys are of one row.
    static void chain(const unique_keys& k, const work& w, std::int32_t keys, bool rises, std::int64_t n,
                      const call& c) {
        std::memset(k.next, -1, 4 * static_cast<std::size_t>(keys));
        *k.head_count = keys;
        if (rises) {
            for (std::int32_t key = 0; key < keys; ++key) k.heads[key] = key;
            return;
        }
        std::int32_t heads = 0;
        std::memset(w.latest, -1, 4 * static_cast<std::size_t>(n));
        for (std::int32_t key = 0; key < keys; ++key) {
            const auto row = static_cast<std::uint32_t>(k.row[key]);
            std::uint32_t& latest = n < c.e[unique_extent::all_rows] ? w.latest_of<true>(row, n)
                                                                     : w.latest_of<false>(row, n);
            if (latest == nobody) k.heads[heads++] = key;
            else k.next[latest] = key;
            latest = static_cast<std::uint32_t>(key);
        }
        *k.head_count = heads;
    }
};

template <class Body, int... X>
struct nest<op::unique_rows, Body, X...> { using type = find_unique_rows; };

} // namespace sinter::cpu
