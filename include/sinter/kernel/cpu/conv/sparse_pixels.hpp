// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/pixel_product.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_rows.hpp>
#include <sinter/kernel/cpu/rowwise/producer_rows.hpp>

/// Products of pixels, many of whose channels are zero, as behind relu, and packed weights.
namespace sinter::inline SINTER_TARGET::cpu {

struct sparse_pixels {
    static constexpr std::int64_t least_rows = 24, sparse_list_floats = 1 << 17;
    static constexpr std::int64_t group = sparse_columns;
    static constexpr std::int64_t led_rows = 16;   ///< that a walk makes at once, just before their lists are

    static constexpr bool suits(std::int64_t depth, std::int64_t columns) {
        return depth >= mask_bits && depth % lanes == 0 && columns >= group;
    }
    /// Rows whose lists are made at once.
    static constexpr std::int64_t rows(std::int64_t depth) {
        return std::clamp<std::int64_t>(sparse_list_floats / depth, least_rows, 256);
    }
    static constexpr std::int64_t floats(std::int64_t depth) {
        return round_up(row_lists::floats(rows(depth), depth) + rows(depth) * group, 16);
    }
    static bool pays(const product& q) {
        return q.rows >= least_rows &&
               non_zero_share(q.a, q.rows, q.depth, q.row_step) <= sparse_list_share(q.columns / group);
    }

    /// As run_pixels, of any number of rows.
    template <class = void>
    static __attribute__((noinline)) void run(const product& q, const epilogue& f, const call& c, float* workspace,
                                              producer_rows& producer) {
        const std::int64_t blocks = (q.rows + rows(q.depth) - 1) / rows(q.depth);
        for (std::int64_t k = 0; k < blocks; ++k) {
            const std::int64_t first = q.rows * k / blocks;
            product block = q;
            block.rows = q.rows * (k + 1) / blocks - first;
            block.a += first * q.row_step;
            block.off += first * step(q);
            block.row += first;
            run_block(block, f, c, workspace, producer);
        }
    }

    /// Whose lists the rows have, for each tap of a window, and how many words of the depth a tap
    /// has; or none: a row's are its own.
    struct taps {
        const std::int32_t* which = nullptr;
        std::int64_t words = 0;
    };
    /// Four panels; the next ones' weights lie `next` behind. False, and nothing done: a weight is
    /// not finite.
    template <class = void>
    static bool run_columns(const product& q, const epilogue& f, const call& c, const row_lists& lists, taps t,
                            float* sums, std::int64_t next, bool checks = true) {
        constexpr std::int64_t at_once = 32,
                               prefetched_rows = 16;   ///< rows that are finished by one call; prefetched before
        constexpr std::int64_t piece = mask_bits * panel_width, lines = mask_bits * group / floats_a_line;
        const std::int64_t words = row_lists::words(q.depth), panel_step = panel_width * q.depth;
        const std::int64_t share = (lines + q.rows - 1) / q.rows;
        tile_lines of_row;
        if (f.list) f.list({sums, 1, group, group, q.off, q.result_step, q.row, q.col}, c, of_row);
        vf finite = zero();
        for (std::int64_t w = 0; w < words; ++w) {
            const std::int64_t k = w * mask_bits, n = std::min<std::int64_t>(mask_bits, q.depth - k);
            const float* const b = q.b + k * panel_width;
            const std::int64_t word = t.which ? w % t.words : w;
            const std::int32_t* const which = t.which ? t.which + w / t.words * q.rows : nullptr;
            finite += finite_panels(b, panel_step, n);
            if (w + 1 < words) {
                const prefetched_pieces block{b + piece, piece, panel_step, share};
                add_sparse_rows(lists, word, which, 0, q.rows, b, panel_step, {sums, group, panel_width, w == 0}, block,
                                {}, {});
                continue;
            }
            if (checks && sum_lanes(finite) != 0.f) return false;
            for (std::int64_t i = 0; i < q.rows; i += at_once) {
                const std::int64_t m = std::min(at_once, q.rows - i), off = q.off + i * q.result_step;
                float* const at = sums + i * group;
                const std::int64_t prefetched = i * share * floats_a_line;
                const float* const panel = q.b + next + prefetched / piece * panel_step;
                const prefetched_pieces block{panel + prefetched % piece, piece, panel_step, share, panel + piece};
                add_sparse_rows(lists, word, which, i, i + m, b, panel_step, {at, group, panel_width, w == 0}, block,
                                {}, {&of_row, prefetched_rows * q.result_step, q.result_step});
                f.finish({at, static_cast<int>(m), group, group, off, q.result_step, q.row + i, q.col}, c);
            }
        }
        return true;
    }

private:
    static std::int64_t step(const product& q) { return q.result_step ? q.result_step : q.columns; }
    static product columns_of(const product& q, std::int64_t j, std::int64_t n) {
        product part = q;
        part.b += j * q.depth;
        part.columns = n;
        part.off += j;
        part.result_step = step(q);
        part.col += static_cast<int>(j);
        return part;
    }

    template <class = void>
    static void run_block(const product& q, const epilogue& f, const call& c, float* workspace,
                          producer_rows& producer) {
        float* const sums = workspace;
        const row_lists lists(workspace + rows(q.depth) * group, q.rows, q.depth);
        for (std::int64_t i = 0; i < q.rows; ++i) {
            if (i % led_rows == 0) producer.make_until(q.row + std::min(i + led_rows, q.rows));
            for (std::int64_t k = 0; k < q.depth; k += mask_bits)
                lists.make(k / mask_bits, i, q.a + i * q.row_step + k, std::min<std::int64_t>(mask_bits, q.depth - k));
        }
        std::int64_t j = 0;
        for (; j + group <= q.columns; j += group)
            if (!run_columns(columns_of(q, j, group), f, c, lists, {}, sums,
                             j + 2 * group <= q.columns ? group * q.depth : 0))
                run_pixels(columns_of(q, j, group), f, c);
        if (j < q.columns) run_pixels(columns_of(q, j, q.columns - j), f, c);
    }
};

} // namespace sinter::cpu
