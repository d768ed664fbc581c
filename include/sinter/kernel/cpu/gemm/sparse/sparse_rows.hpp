// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/gemm/product.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_left.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_list.hpp>

/// Sums over what is not zero of some rows, of which lists are made once for all columns. A block
/// of 64 terms by four panels of the right operand stays in the first-level cache while all rows
/// pass, whose sums lie in the second-level one between blocks. The terms are added in the same
/// order as by the tiles, so the result has the same bits; but a factor of zero must not meet what
/// is not finite.
namespace sinter::inline SINTER_TARGET::cpu {

/// A list by which so many columns are multiplied is worth making.
inline constexpr std::int64_t sparse_columns = sparse_panels * panel_width;
/// Elements that are not zero, up to which lists are faster than tiles: making one takes as long as
/// half of its use by a group of four panels.
constexpr float sparse_list_share(std::int64_t groups) { return 0.78f - 0.16f / static_cast<float>(groups); }

/// Of rows' elements, 64 at a time: which are not zero, and their values one behind the other;
/// [word][row].
struct row_lists {
    float* values;
    std::uint64_t* masks;
    std::int64_t rows;

    static constexpr std::int64_t words(std::int64_t depth) { return (depth + mask_bits - 1) / mask_bits; }
    /// Room for so many rows, in floats.
    static constexpr std::int64_t floats(std::int64_t rows, std::int64_t depth) {
        return rows * words(depth) * (mask_bits + 2) + lanes;
    }
    row_lists(float* workspace, std::int64_t n, std::int64_t depth)
        : values(workspace), masks(reinterpret_cast<std::uint64_t*>(workspace + n * words(depth) * mask_bits + lanes)),
          rows(n) {}

    const float* list(std::int64_t word, std::int64_t row) const { return values + (word * rows + row) * mask_bits; }
    /// The elements [64 * word, 64 * word + n) of a row; whole vectors are read. `all`: zeros, too.
    void make(std::int64_t word, std::int64_t row, const float* x, std::int64_t n, bool all = false) const {
        float* to = values + (word * rows + row) * mask_bits;
        std::uint64_t m = 0;
        for (std::int64_t i = 0; i < n; i += lanes) {
            const vf v = load(x + i);
            const std::uint64_t bits = all ? first_bits(lanes) : non_zero_bits(v);
            to += store_marked(to, v, static_cast<unsigned>(bits));
            m |= bits << i;
        }
        masks[word * rows + row] = m & first_bits(n);
    }
};

/// What is prefetched with every row: `lines` of pieces of so many floats, `step` apart.
struct prefetched_pieces {
    const float* at = nullptr;
    std::int64_t piece = 0, step = 0, lines = 0;
    const float* end = at + piece;

    SINTER_INLINE void prefetch() {
        for (std::int64_t k = 0; k < lines; ++k, at += floats_a_line) {
            if (at >= end) {
                at = end += step;
                at -= piece;
            }
            __builtin_prefetch(at, 0, 2);
        }
    }
};
/// And of what the body will touch of a row, `ahead` floats further on, and row_step for every row.
struct asked_body {
    const tile_lines* lines = nullptr;   ///< of the first row
    std::int64_t ahead = 0, row_step = 0;
};

/// Sums of rows by four panels.
struct row_sums {
    float* at;   ///< of the first row
    std::int64_t row_step, panel_step;
    bool first;  ///< they begin with nothing
};

/// The sums of rows [first_row, last_row) (+)= the listed terms of a word times the rows of four
/// panels from b on. `which`, if there, tells whose list a row has; a negative number: none.
template <class = void>
__attribute__((noinline)) inline void
add_sparse_rows(const row_lists& l, std::int64_t word, const std::int32_t* which, std::int64_t first_row,
                std::int64_t last_row, const float* b, std::int64_t b_panel_step, const row_sums& to,
                prefetched_pieces block, prefetched_pieces rows, asked_body body) {
    constexpr int V = 2 * sparse_panels;
    const std::int64_t row_step = to.row_step, panel_step = to.panel_step;
    const bool first = to.first;
    float* sums = to.at;
    const float* const list = l.list(word, 0);
    const std::uint64_t* mask = l.masks + word * l.rows;
    for (std::int64_t i = first_row; i < last_row; ++i, sums += row_step) {
        block.prefetch();
        rows.prefetch();
        if (body.lines) {
            const std::int64_t ahead = body.ahead + i * body.row_step;
            for (int k = 0; k < body.lines->count; ++k) __builtin_prefetch(body.lines->line[k] + ahead);
        }
        vf c[V];
        if (first) clear_block(c);
        else unroll<V>([&](int v) SINTER_ALWAYS { c[v] = load(sums + v / 2 * panel_step + v % 2 * lanes); });
        const bool none = which && which[i] < 0;
        const std::int64_t r = none ? 0 : which ? which[i] : i;
        std::uint64_t m[1] = {none ? 0 : mask[r]};
        for_each_marked(m, list + r * mask_bits, 0, [&](int, std::int64_t k, vf a) SINTER_ALWAYS {
            const float* row = b + k * panel_width;
            unroll<V>([&](int v)
                          SINTER_ALWAYS { c[v] = fma(a, load(row + v / 2 * b_panel_step + v % 2 * lanes), c[v]); });
        });
        unroll<V>([&](int v) SINTER_ALWAYS { store(sums + v / 2 * panel_step + v % 2 * lanes, c[v]); });
    }
}

} // namespace sinter::cpu
