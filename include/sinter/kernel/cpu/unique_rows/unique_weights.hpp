// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/unique_rows/unique_keys.hpp>
#include <sinter/kernel/cpu/gemm/weight_gradient/few_rows.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/tile_of_height.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// dW[K][N]: a column's rows from its keys' rows and sums, the numbers' from the examples. Sums are
/// [keys][N], D [m][N], numbers [m][R]; K is all_rows. The body gets what gemm_tn's gets. N is a
/// multiple of lanes.
template <class Body>
struct unique_weights {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        const unique_shape s(c.e);
        const unique_keys k(c.p[unique_weights_operand::keys], s, c.m);
        const std::int64_t panels = (s.outputs + panel_width - 1) / panel_width,
                           n = panels * (s.columns + (s.numbers ? 1 : 0));
        for (std::int64_t i = share(n, c.part, c.parts), end = share(n, c.part + 1, c.parts); i < end; ++i) {
            const std::int64_t column = i / panels, j = i % panels * panel_width;
            if (column < s.columns) {
                const std::int64_t key = k.column[column];
                multiply(k.rows + key * s.width, s.width, c.p[unique_weights_operand::sums] + key * s.outputs,
                         k.column[column + 1] - key,
                         s.first + column * s.width, j, s, f, c);
            } else {
                multiply(c.p[unique_weights_operand::numbers], s.numbers, c.p[unique_weights_operand::d], c.m,
                         s.numbers_first, j, s, f, c);
            }
        }
    }

private:
    /// Rows [first, first + rows) of one panel: the transpose of x [depth][rows] times the
    /// gradients d [depth][N] of keys, or of examples.
    static void multiply(const float* x, std::int64_t rows, const float* d, std::int64_t depth, std::int64_t first,
                         std::int64_t j, const unique_shape& s, const epilogue& f, const call& c) {
        alignas(64) float sums[tile_rows * panel_width];
        const int w = panel_columns(s.outputs, j / panel_width, panel_width, lanes);
        const bool small = rows >= few_rows && rows < small_tile_rows;   // as numbers are
        const row_cover cover(rows);
        finished done{sums, 0, w, w, 0, w, 0, static_cast<int>(j)};
        for (std::int64_t t = 0, count = small ? (rows + few_rows - 1) / few_rows : cover.count; t < count; ++t) {
            const std::int64_t begin = small ? t * few_rows : cover.begin(t);
            const int height = small ? few_rows : cover.height(t);
            const std::int64_t row = begin + height <= rows ? begin : rows - height;
            const bool wide = w == panel_width;
            const tile_function tile = small ? wide ? multiply_tile<few_rows, 2> : multiply_tile<few_rows, 1>
                                             : wide ? tile_of<2>(height) : tile_of<1>(height);
            tile(no_sum, sums, x + row, 1, rows, d + j, s.outputs, depth, 1);
            done.sums = sums + (begin - row) * w;
            done.rows = static_cast<int>(row + height - begin);
            done.row = first + begin;
            done.off = j * c.e[unique_extent::all_rows] + done.row * w;
            f.finish(done, c);
        }
    }
};

template <class Body, int... X>
struct nest<op::unique_weights, Body, X...> { using type = unique_weights<Body>; };

} // namespace sinter::cpu
