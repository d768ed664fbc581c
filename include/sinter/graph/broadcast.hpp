// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/shape.hpp>

/// How an operand of smaller extents is read while a kernel walks over rows and columns.
namespace sinter::inline SINTER_TARGET::compiler {

enum class row_map : std::uint8_t { same, none, divided, modulo };   ///< row r of the result reads row r, 0, r/q, r%q

struct operand_map {
    bool valid = false;       ///< false: the pattern is none of these and the operand must be expanded first
    row_map rows = row_map::same;
    bool columns = true;      ///< false: one value for the whole row
    int q = 1;

    constexpr bool full() const { return rows == row_map::same && columns; }
    constexpr bool single() const { return rows == row_map::none && !columns; }
};

/// The result's extents of a and b under NumPy's rules (aligned at the last axis, 1 stretches);
/// false where they clash.
constexpr bool broadcast_shape(const shape& a, const shape& b, shape& out) {
    out = a.rank >= b.rank ? a.plain() : b.plain();
    out.batched = a.batched || b.batched;
    out.type = dtype::f32;
    for (int i = 1; i <= out.rank; ++i) {
        const int x = i <= a.rank ? a.d[a.rank - i] : 1, y = i <= b.rank ? b.d[b.rank - i] : 1;
        if (x != y && x != 1 && y != 1) return false;
        out.d[out.rank - i] = x > y ? x : y;
    }
    if (a.batched && b.rank > a.rank) return false;   // the batch axis of a would fall on an inner axis of b
    if (b.batched && a.rank > b.rank) return false;
    return true;
}

/// How `from` is read by a kernel that walks over `to`.
constexpr operand_map map_operand(const shape& from, const shape& to) {
    operand_map m;
    const int columns = to.last(), from_columns = from.last();
    m.columns = from_columns == columns;
    if (columns == 1) m.columns = true;
    // walk the row axes from the inside out; phase 0: no axis seen, 1: inner axes shared, 2: inner
    // axes stretched
    int phase = 0, changes = 0, product = 1;
    for (int i = 2; i <= to.rank + 1; ++i) {
        const bool batch = i == to.rank + 1 || to.rank == 0;
        if (batch && !to.batched) break;
        const int extent = batch ? 0 : to.d[to.rank - i];
        if (!batch && extent == 1) continue;
        const bool shared = batch ? from.batched : i <= from.rank && from.d[from.rank - i] == extent;
        const int now = shared ? 1 : 2;
        if (phase && now != phase && ++changes == 1) m.q = product;
        phase = now;
        if (!batch) product *= extent;
    }
    if (to.rank == 0 && to.batched) phase = from.batched ? 1 : 2;
    if (changes > 1) return m;
    m.valid = true;
    if (changes == 0) m.rows = phase == 2 ? row_map::none : row_map::same;
    else m.rows = phase == 1 ? row_map::divided : row_map::modulo;
    if (columns == 1 && m.rows == row_map::none) m.columns = false;
    return m;
}

} // namespace sinter::compiler
