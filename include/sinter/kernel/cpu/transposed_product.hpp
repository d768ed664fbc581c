// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product.hpp>

/// Products whose left operand lies transposed, [depth][rows], as gradients of weights have it. Where the sums are long, a
/// tile's few floats of each of its rows cost a line each, and rows that are a power of two apart share few places in the caches:
/// so both operands are copied, the left one for some tiles at a time, the right one panel by panel.
namespace sinter::cpu {

/// Shorter sums are taken from where their operands lie.
inline constexpr std::int64_t least_packed_depth = 96;

/// Floats of the left operand, and of sums that go on in the next piece of the depth: they share the second-level cache, which is a
/// megabyte where vectors have 512 bits. Tiles are larger there, too.
inline constexpr std::int64_t packed_floats = lanes >= 16 ? 81920 : 40960, continued_floats = lanes >= 16 ? 81920 : 20480;
/// Rows of the depth that are copied at once.
inline constexpr std::int64_t copied_rows = lanes >= 16 ? 256 : gathered_floats / 2 / panel_width;

/// Rows [t, t + n) of `tiles` tiles from tile `first` on, as [tile][n][its height]; tiles are `step` floats apart.
__attribute__((noinline)) inline void pack_tiles(const product& q, const row_cover& cover, std::int64_t first, std::int64_t tiles,
                                                 std::int64_t t, std::int64_t n, float* to, std::int64_t step) {
    constexpr int vectors = (tile_rows + lanes - 1) / lanes;   // whole ones: what is too much is written over
    std::int64_t whole = cover.large - first < tiles ? cover.large - first : tiles;
    while (whole > 0 && (first + whole - 1) * tile_rows + vectors * lanes > q.rows) --whole;
    if (whole < 0) whole = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const float* from = q.a + (t + i) * q.sum_step + first * tile_rows;
        float* place = to + i * tile_rows;
        for (std::int64_t k = 0; k < whole; ++k, from += tile_rows, place += step)
            unroll<vectors>([&](auto v) SINTER_ALWAYS { store(place + v * lanes, load(from + v * lanes)); });
    }
    for (std::int64_t k = whole; k < tiles; ++k) {
        const int height = cover.height(first + k);
        const std::int64_t begin = cover.begin(first + k), row = begin + height <= q.rows ? begin : q.rows - height;
        const float* from = q.a + t * q.sum_step + row;
        float* place = to + k * step;
        for (std::int64_t i = 0; i < n; ++i, from += q.sum_step, place += height)
            for (int j = 0; j < height; ++j) place[j] = from[j];
    }
}

/// Panels that are gathered together, some rows at a time: rows lie far apart, each in a page of its own.
inline constexpr int gathered_panels = 4, gathered_rows = 16;

/// Rows [t, t + n) of `count` panels from panel p on, as [panel][n][its columns]; panels are `step` floats apart.
__attribute__((noinline)) inline void gather_panels(const product& q, std::int64_t p, std::int64_t count, std::int64_t t, std::int64_t n,
                                                    float* to, std::int64_t step) {
    for (std::int64_t i = 0; i < n; i += gathered_rows)
        for (std::int64_t k = 0; k < count; ++k) {
            const int w = panel_columns(q.columns, p + k, panel_width, lanes);
            gather_panel(q, (p + k) * panel_width, w, t + i, n - i < gathered_rows ? n - i : gathered_rows, to + k * step + i * w);
        }
}

/// How a product's tiles are split into parts: `down` shares of rows times `across` shares of panels.
struct part_grid {
    int down, across;
    /// The one that copies the least: each share of rows copies the panels, each share of panels the rows.
    constexpr part_grid(std::int64_t tiles, std::int64_t panels, int parts) : down(1), across(parts) {
        std::int64_t least = -1;
        for (int d = 1; d <= parts; ++d) {
            if (parts % d) continue;
            const std::int64_t rows = (tiles + d - 1) / d, wide = (panels + parts / d - 1) / (parts / d);
            const std::int64_t cost = rows * wide * 3 * tile_rows + 2 * rows + 4 * wide;   // the longest part's
            if (least >= 0 && cost >= least) continue;
            least = cost;
            down = d;
            across = parts / d;
        }
    }
};

/// As run_product, where q.row_step is 1.
__attribute__((noinline)) inline void run_transposed_product(const product& q, const finisher& f, const call& c, int part, int parts) {
    if (q.depth < least_packed_depth) return run_product(q, f, c, part, parts);
    alignas(64) float gathered[gathered_panels * copied_rows * panel_width];
    alignas(64) float packed[packed_floats];
    alignas(64) float continued[continued_floats];
    constexpr std::int64_t piece = copied_rows, sums = tile_rows * panel_width;
    const row_cover cover(q.rows);
    const std::int64_t panels = (q.columns + panel_width - 1) / panel_width;
    const part_grid grid(cover.count, panels, parts);
    const int down = part % grid.down, across = part / grid.down;
    const std::int64_t end = share(cover.count, down + 1, grid.down), last_panel = share(panels, across + 1, grid.across);
    const std::int64_t first_panel = share(panels, across, grid.across);
    const std::int64_t longest = q.depth < piece ? q.depth : piece, step = round_up(tile_rows * longest + lanes, 16);
    const bool carry = q.depth > piece;
    const std::int64_t room = packed_floats / step, block = carry ? continued_floats / sums / room : panels;
    for (std::int64_t first = share(cover.count, down, grid.down); first < end; first += room) {
        const std::int64_t tiles = end - first < room ? end - first : room;
        for (std::int64_t p0 = first_panel; p0 < last_panel; p0 += block)
            for (std::int64_t t = 0; t < q.depth; t += piece) {
                const std::int64_t n = q.depth - t < piece ? q.depth - t : piece;
                pack_tiles(q, cover, first, tiles, t, n, packed, step);
                const bool last = t + n == q.depth;
                for (std::int64_t p = p0; p < last_panel && p < p0 + block; ++p) {
                    const std::int64_t j0 = p * panel_width;
                    const int w = panel_columns(q.columns, p, panel_width, lanes);
                    const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
                    const std::int64_t off_step = q.packed_result ? w : q.result_step ? q.result_step : q.columns;
                    finished done{nullptr, 0, q.packed_result ? w : there, w, 0, off_step, 0, q.col + static_cast<int>(j0)};
                    const direct_function direct = done.columns == panel_width ? f.direct : nullptr;
                    if ((p - p0) % gathered_panels == 0) {
                        const std::int64_t rest = (last_panel < p0 + block ? last_panel : p0 + block) - p;
                        gather_panels(q, p, rest < gathered_panels ? rest : gathered_panels, t, n, gathered, piece * panel_width);
                    }
                    const float* b = gathered + (p - p0) % gathered_panels * piece * panel_width;
                    for (std::int64_t k = 0; k < tiles; ++k) {
                        const std::int64_t i = first + k, begin = cover.begin(i);
                        const int height = cover.height(i);
                        const std::int64_t row = begin + height <= q.rows ? begin : q.rows - height;
                        float* to = continued + (carry ? (p - p0) * room + k : 0) * sums;
                        const float *from = t ? to : no_sum, *x = packed + k * step;
                        done.sums = to + (begin - row) * w;
                        done.rows = static_cast<int>(row + height - begin);
                        done.off = q.off + (q.packed_result ? j0 * q.rows : j0) + begin * off_step;
                        done.row = q.row + begin;
                        if (last && f.expect) f.expect(done, c);
                        if (last && height == tile_rows && direct) {
                            direct(from, x, 1, height, b, w, n, done, c);
                            continue;
                        }
                        (w == panel_width ? tile_of<2>(height) : tile_of<1>(height))(from, to, x, 1, height, b, w, n, 1);
                        if (last) f.finish(done, c);
                    }
                }
            }
    }
}

} // namespace sinter::cpu
