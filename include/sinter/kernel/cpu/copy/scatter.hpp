// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/kernel/cpu/rowwise/body.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <limits>

namespace sinter::inline SINTER_TARGET::cpu {

/// The gradient of a table: row v is the sum of those of c.m rows whose index is v, in their order.
/// A lazy one's body sees only the rows that occur: it is an optimizer's update then, and all
/// others stay as they are. Otherwise it sees all rows, zeros where nothing occurred. Where the
/// body reads what was summed before, the rows are not used.
///
/// With `list_rows` the body sees the rows that occur one after the other, as rows of a list, in
/// the order in which they first occur; zeros follow up to so many rows, and the list's keys are
/// written behind their number (base/row_list.hpp). scatter_rows_sums::listed reads
/// such a list: each of its rows is handed to the body.
///
/// First one part chains equal indices by a hash table in scratch (or, of a small table, by its
/// rows' numbers), then all parts share the rows.
template <class Body>
struct scatter_rows {
    static constexpr int phases = 2;
    static constexpr std::int64_t capacity(std::int64_t m) {
        std::int64_t n = 16;
        while (n < 2 * m) n *= 2;
        return n;
    }
    static constexpr std::int64_t scratch(const std::int64_t*, int, std::int64_t m) {
        return round_up(16 + 3 * capacity(m) + 2 * m, 16);
    }

    static void run(const call& c) {
        if (c.part != 0 || c.e[scatter_rows_extent::body_reads] >= scatter_rows_sums::of_round) return;
        const chains t(c);
        *t.unique = 0;
        for (std::int64_t i = 0; i < t.slots; ++i) t.key[i] = -1;
        const auto* index = reinterpret_cast<const std::int32_t*>(c.p[scatter_rows_operand::indices]);
        for (std::int32_t i = 0; i < c.m; ++i) {
            const std::int64_t s = t.find(index[i]);
            t.next[i] = -1;
            if (t.key[s] < 0) {
                t.key[s] = index[i];
                t.first[s] = i;
                t.order[(*t.unique)++] = static_cast<std::int32_t>(s);
            } else {
                t.next[t.last[s]] = i;
            }
            t.last[s] = i;
        }
    }
    static void finish(const call& c) {
        if (c.e[scatter_rows_extent::list_rows]) return make_list(c);
        if (c.e[scatter_rows_extent::body_reads] == scatter_rows_sums::listed) return read_list(c);
        const chains t(c);
        const std::int64_t body_reads = c.e[scatter_rows_extent::body_reads];
        const bool gathered = body_reads == scatter_rows_sums::of_round, sums = body_reads == scatter_rows_sums::none;
        const bool lazy = c.e[scatter_rows_extent::lazy];
        const std::int64_t n = lazy && !gathered ? *t.unique : c.e[scatter_rows_extent::rows];
        const std::int64_t end = share(n, c.part + 1, c.parts);
        for (std::int64_t i = share(n, c.part, c.parts); i < end; ++i) {
            if (gathered && !holds_sums(i, c)) continue;
            const std::int64_t s = gathered ? 0 : lazy ? t.order[i] : t.find(static_cast<std::int32_t>(i));
            const std::int64_t row = lazy && !gathered ? t.key[s] : i;
            sum_row(row, !sums || t.key[s] < 0 ? -1 : t.first[s], t, c);
        }
    }

private:
    static void make_list(const call& c) {
        const chains t(c);
        auto* const keys = reinterpret_cast<std::int32_t*>(c.p[scatter_rows_operand::keys]);
        const std::int64_t most = c.e[scatter_rows_extent::list_rows];
        if (c.part == 0) *keys = *t.unique;
        const std::int64_t end = share(most, c.part + 1, c.parts);
        for (std::int64_t i = share(most, c.part, c.parts); i < end; ++i) {
            const bool occurs = i < *t.unique;
            if (occurs) keys[list_header + i] = t.key[t.order[i]];
            sum_row(i, occurs ? t.first[t.order[i]] : -1, t, c);
        }
    }
    static void read_list(const call& c) {
        const auto* const keys = reinterpret_cast<const std::int32_t*>(c.p[scatter_rows_operand::indices]);
        const std::int64_t width = c.e[scatter_rows_extent::width], end = share(*keys, c.part + 1, c.parts);
        for (std::int64_t i = share(*keys, c.part, c.parts); i < end; ++i) {
            const std::int64_t row = keys[list_header + i];
            const float* const from = c.p[scatter_rows_operand::rows] + i * width;
            std::int64_t j = 0;
            for (; j + lanes <= width; j += lanes)
                Body::vector(load(from + j), row * width + j, row, static_cast<int>(j), c);
            if (const int n = static_cast<int>(width - j); n > 0)
                Body::vector(load(from + j, n), n, row * width + j, row, static_cast<int>(j), c);
        }
    }
    static constexpr std::int32_t minus_zero = std::numeric_limits<std::int32_t>::min();   ///< as bits
    struct chains {
        std::int32_t *unique, *key, *first, *last, *next, *order;
        std::int64_t slots;   ///< of the hash table; or one for each row of the table, where it has no more than that
        bool hashed;
        explicit chains(const call& c) {
            const std::int64_t n = capacity(c.m);
            unique = reinterpret_cast<std::int32_t*>(c.scratch);
            key = unique + 16;
            first = key + n;
            last = first + n;
            next = last + n;
            order = next + c.m;
            hashed = c.e[scatter_rows_extent::rows] > n;
            slots = hashed ? n : c.e[scatter_rows_extent::rows];
        }
        std::int64_t find(std::int32_t v) const {
            if (!hashed) return v;
            std::int64_t s = (static_cast<std::uint32_t>(v) * 2654435761u >> 7) & (slots - 1);
            while (key[s] >= 0 && key[s] != v) s = (s + 1) & (slots - 1);
            return s;
        }
    };
    /// Has anything been gathered in this row?
    static bool holds_sums(std::int64_t row, const call& c) {
        const std::int64_t width = c.e[scatter_rows_extent::width];
        const auto* const gathered =
            reinterpret_cast<const std::int32_t*>(c.p[scatter_rows_operand::indices]) + row * width;
        bool any = false;
        for (std::int64_t j = 0; j < width; ++j) any |= gathered[j] != minus_zero;
        return any;
    }
    static void sum_row(std::int64_t row, std::int32_t first, const chains& t, const call& c) {
        const std::int64_t width = c.e[scatter_rows_extent::width];
        std::int64_t j = 0;
        for (; j + lanes <= width; j += lanes) {
            vf s = zero();
            for (std::int32_t i = first; i >= 0; i = t.next[i])
                s += load(c.p[scatter_rows_operand::rows] + i * width + j);
            Body::vector(s, row * width + j, row, static_cast<int>(j), c);
        }
        if (const int n = static_cast<int>(width - j); n > 0) {
            vf s = zero();
            for (std::int32_t i = first; i >= 0; i = t.next[i])
                s += load(c.p[scatter_rows_operand::rows] + i * width + j, n);
            Body::vector(s, n, row * width + j, row, static_cast<int>(j), c);
        }
    }
};

template <class Body, int... X>
struct nest<op::scatter_rows, Body, X...> { using type = scatter_rows<Body>; };

} // namespace sinter::cpu
