// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/distinct/distinct_keys.hpp>
#include <sinter/kernel/cpu/product/few_rows.hpp>
#include <sinter/kernel/cpu/product/finish.hpp>
#include <sinter/kernel/cpu/product/product_limits.hpp>
#include <sinter/kernel/cpu/product/tile_of_height.hpp>

namespace sinter::cpu {

/// dW[K][N]: a column's rows from its keys' rows and sums, the numbers' from the examples. p[0] = keys, p[1] = sums [places][N],
/// p[2] = D [m][N], p[3] = numbers [m][R]; e[6] = K. The body gets what gemm_tn's gets. N is a multiple of lanes.
template <class Body>
struct distinct_weights {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        const distinct_shape s(c.e);
        const distinct_keys k(c.p[0], s, c.m);
        const std::int64_t panels = (s.outputs + panel_width - 1) / panel_width, n = panels * (s.columns + (s.numbers ? 1 : 0));
        for (std::int64_t i = share(n, c.part, c.parts), end = share(n, c.part + 1, c.parts); i < end; ++i) {
            const std::int64_t column = i / panels, j = i % panels * panel_width;
            if (column < s.columns) {
                multiply<true>(k.rows + k.column[column] * s.width, s.width, k.column[column], k.column[column + 1],
                               s.first + column * s.width, j, k, s, f, c);
            } else {
                multiply<false>(c.p[3], s.numbers, 0, c.m, s.numbers_first, j, k, s, f, c);
            }
        }
    }

private:
    using tile_of_keys = void (*)(float* to, const float* x, std::int64_t rows, std::int64_t key, std::int64_t end, std::int64_t j,
                                  const distinct_keys& k, const distinct_shape& s, const call& c, float* copy);

    /// One tile: to[MR][NR * lanes] = the transpose of x [end - key][rows] times the gradients of the keys [key, end). `Copies`: what is
    /// read of these, as [end - key][NR * lanes].
    template <int MR, int NR, bool Copies = false>
    __attribute__((noinline)) static void multiply_keys(float* to, const float* x, std::int64_t rows, std::int64_t key, std::int64_t end,
                                                        std::int64_t j, const distinct_keys& k, const distinct_shape& s, const call& c,
                                                        [[maybe_unused]] float* copy) {
        const std::int32_t *at = k.place + key, *const last = k.place + end;
        const float *const sums = c.p[1] + j, *const d = c.p[2] + j;
        const std::int64_t n = s.outputs;
        vf sum[MR * NR];
        clear_block(sum);
        for (; at < last; ++at, x += rows) {
            vf v[NR];
            load_block<NR>(v, gradient_at(*at, sums, d, n), 0);
            if constexpr (Copies) {
                store_block<NR>(v, copy, 0);
                copy += NR * lanes;
            }
            if constexpr (MR > 1 && MR <= 4) unroll<NR>([&](int w) SINTER_ALWAYS { pin(v[w]); });
            unroll<MR>([&](int i) SINTER_ALWAYS {
                const vf a = splat(x[i]);
                unroll<NR>([&](int w) SINTER_ALWAYS { sum[i * NR + w] = fma(a, v[w], sum[i * NR + w]); });
            });
        }
        store_block<NR>(sum, to, NR * lanes);
    }
    template <int NR>
    static tile_of_keys keys_tile(int height) {
        return height == tile_rows ? multiply_keys<tile_rows, NR>
               : height == small_tile_rows ? multiply_keys<small_tile_rows, NR>
               : height == few_rows ? multiply_keys<few_rows, NR> : multiply_keys<1, NR>;
    }
    /// Rows [first, first + rows) of one panel: the transpose of x [depth][rows] times the gradients of keys, or of examples.
    template <bool Keys>
    static void multiply(const float* x, std::int64_t rows, std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t j,
                         const distinct_keys& k, const distinct_shape& s, const finisher& f, const call& c) {
        alignas(64) float sums[tile_rows * panel_width];
        alignas(64) float gathered[Keys ? gathered_floats : 1];
        const int w = panel_columns(s.outputs, j / panel_width, panel_width, lanes);
        const bool small = rows >= few_rows && rows < small_tile_rows;   // as numbers are
        const row_cover cover(rows);
        const bool copies = Keys && w == panel_width && cover.large > 0 && cover.count > 2 && (to - from) * w <= gathered_floats;
        finished done{sums, 0, w, w, 0, w, 0, static_cast<int>(j)};
        for (std::int64_t t = 0, count = small ? (rows + few_rows - 1) / few_rows : cover.count; t < count; ++t) {
            const std::int64_t begin = small ? t * few_rows : cover.begin(t);
            const int height = small ? few_rows : cover.height(t);
            const std::int64_t row = begin + height <= rows ? begin : rows - height;
            const bool wide = w == panel_width;
            if (copies && t > 0) {
                tile_of<2>(height)(no_sum, sums, x + row, 1, rows, gathered, w, to - from, 1);
            } else if (copies) {
                multiply_keys<tile_rows, 2, true>(sums, x + row, rows, from, to, j, k, s, c, gathered);
            } else if constexpr (Keys) {
                (wide ? keys_tile<2> : keys_tile<1>)(height)(sums, x + row, rows, from, to, j, k, s, c, nullptr);
            } else {
                const tile_function tile = small ? wide ? multiply_tile<few_rows, 2> : multiply_tile<few_rows, 1>
                                                 : wide ? tile_of<2>(height) : tile_of<1>(height);
                tile(no_sum, sums, x + row, 1, rows, c.p[2] + j, s.outputs, to, 1);
            }
            done.sums = sums + (begin - row) * w;
            done.rows = static_cast<int>(row + height - begin);
            done.row = first + begin;
            done.off = j * c.e[6] + done.row * w;
            f.finish(done, c);
        }
    }
};

template <class Body, int... X>
struct nest<op::distinct_weights, Body, X...> { using type = distinct_weights<Body>; };

} // namespace sinter::cpu
