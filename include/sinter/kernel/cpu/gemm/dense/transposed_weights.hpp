// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/run_share.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>

/// Few rows times the transpose of packed weights, as a small batch's gradient of a layer's input,
/// with lanes along the rows: the weights are factors where they lie, each of which is read once,
/// and nothing of them is transposed. The few rows are, and the result.
namespace sinter::inline SINTER_TARGET::cpu {

/// Floats of the sums that wait in the second-level cache while the weights pass by, and panels of
/// the weights that do so at once: each is a stream from memory, of so many lines ahead of the tile
/// that are prefetched.
inline constexpr std::int64_t waiting_floats = 16384, transposed_at_once = 4, transposed_ahead = 32;
/// Rows whose lanes are summed at once make a group: a panel's width, the last one maybe half of
/// that. Then tiles are twice as high.
inline constexpr int most_transposed_groups = 2;
/// The higher ones' height: a panel has no fewer columns.
inline constexpr int transposed_height = 2 * tile_rows < panel_width ? 2 * tile_rows : panel_width;

/// Do the weights come from afar, and are all panels of the result whole? With more registers
/// transposed pieces of weights do as well.
constexpr bool suits_transposed_weights(const product& q) {
    return registers < 32 && q.columns * q.depth > non_temporal_floats && q.columns % panel_width == 0;
}
/// Are the rows few, and the lanes nearly full? Behind more rows it costs less to transpose a piece
/// of the weights.
inline bool fills_lanes(const product& q) {
    const std::int64_t filled = round_up(q.rows, lanes);
    return q.rows >= small_tile_rows && 4 * filled <= 5 * q.rows && filled <= most_transposed_groups * panel_width;
}

/// to[i][] = from[i][] + sum over t < n of w[i * w_step + t] * x[t][]: MR of the weights' rows. w
/// goes on `panel_step` floats behind every panel_width terms.
template <int MR, int NV>
__attribute__((noinline)) void multiply_transposed(const float* from, float* to, const float* w, std::int64_t w_step,
                                                   std::int64_t panel_step, const float* x, std::int64_t n) {
    vf c[std::size_t{MR * NV}];
    unroll<MR * NV>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    for (; n > 0; n -= panel_width, w += panel_step, x += panel_width * NV * lanes) {
        base::prefetch_lines(w + transposed_ahead * panel_width, 4 * MR * panel_width);
        accumulate<MR, NV>(c, w, w_step, 1, x, NV * lanes, n < panel_width ? n : panel_width);
    }
    unroll<MR * NV>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}

/// The result's panels [panel, end).
template <class = void>
__attribute__((noinline)) inline void run_transposed_panels(const product& q, const epilogue& f, const call& c,
                                                            std::int64_t panel, std::int64_t end) {
    constexpr int terms = transposed_at_once * panel_width, height = transposed_height, half = height / 2;
    alignas(64) float sums[waiting_floats], x[most_transposed_groups * panel_width * terms];
    alignas(64) float again[most_transposed_groups * height * panel_width], tile[panel_width * panel_width];
    const int groups = static_cast<int>((q.rows + panel_width - 1) / panel_width);
    const std::int64_t most = waiting_floats / (groups * panel_width) / panel_width;
    const std::int64_t off_step = q.result_step ? q.result_step : q.columns, narrow = q.depth % panel_width;
    const std::int64_t end_of_wide = narrow <= lanes ? q.depth - narrow : q.depth;   // panels of the weights
    const auto rows_of = [&](int g) {
        return static_cast<int>(q.rows - g * panel_width < panel_width ? q.rows - g * panel_width : panel_width);
    };
    for (std::int64_t count; panel < end; panel += count) {
        count = end - panel < most ? end - panel : most;
        const std::int64_t first = panel * panel_width, columns = count * panel_width;
        for (std::int64_t t = 0, n; t < q.depth; t += n) {
            const bool wide = t < end_of_wide;
            const std::int64_t left = (wide ? end_of_wide : q.depth) - t;
            n = left < terms ? left : terms;
            for (int g = 0; g < groups; ++g)
                transpose_matrix(q.a + g * panel_width * q.row_step + t, q.row_step, rows_of(g), n,
                                 x + g * panel_width * terms, rows_of(g) > lanes ? panel_width : lanes, false);
            const int w_step = wide ? panel_width : lanes;
            const float* const w = q.b + t * q.columns + first * w_step;
            for (std::int64_t i = 0; i < columns; i += height)
                for (int g = 0; g < groups; ++g) {
                    // The last tile begins earlier; what it sums once more waits apart.
                    const std::int64_t begin = i + height <= columns ? i : columns - height;
                    const int width = rows_of(g) > lanes ? panel_width : lanes;
                    float* const there = sums + g * columns * panel_width + begin * width;
                    float* const waiting = begin < i ? again + g * height * panel_width : there;
                    float* const to = t + n < q.depth ? waiting : there;
                    const float* const rows = x + g * panel_width * terms;
                    if (width == lanes) {
                        multiply_transposed<height, 1>(t ? waiting : no_sum, to, w + begin * w_step, w_step,
                                                       q.columns * panel_width, rows, n);
                        continue;
                    }
                    for (int k = 0; k < height; k += half)
                        multiply_transposed<half, 2>(t ? waiting + k * width : no_sum, to + k * width,
                                                     w + (begin + k) * w_step, w_step, q.columns * panel_width, rows,
                                                     n);
                }
        }
        for (std::int64_t j = 0; j < columns; j += panel_width)
            for (int g = 0; g < groups; ++g) {
                const int width = rows_of(g) > lanes ? panel_width : lanes;
                const std::int64_t row = g * panel_width, col = first + j;
                const finished done{tile,
                                    rows_of(g),
                                    panel_width,
                                    panel_width,
                                    q.off + row * off_step + col,
                                    off_step,
                                    q.row + row,
                                    q.col + static_cast<int>(col)};
                if (f.prefetch) f.prefetch(done, c);
                transpose_matrix(sums + g * columns * panel_width + j * width, width, panel_width, rows_of(g), tile,
                                 panel_width, false);
                f.finish(done, c);
            }
    }
}

/// The share of this call's part, or of all of its thread's.
template <class = void>
inline void run_transposed_weights(const product& q, const epilogue& f, const call& c) {
    if (is_done(f, c)) return;
    const std::int64_t panels = q.columns / panel_width;
    run_transposed_panels(q, f, c, share(panels, c.part, c.parts),
                          share(panels, does_all_parts(f, c) ? c.end : c.part + 1, c.parts));
}

} // namespace sinter::cpu
