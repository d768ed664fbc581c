// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/product/tile.hpp>
#include <sinter/kernel/cpu/product/turned_panel.hpp>

/// The loops around the tile that all matrix products share. They know no body: a finished tile is handed to a
/// function, so that a program compiles everything in this file once. Functions that name tiles are templates, of nothing: so tiles
/// are made for programs whose kernels call them, and not by the include.
namespace sinter::cpu {

/// How the right operand lies: as panels, row-major [depth][columns], or transposed, row-major [columns][depth] or as panels of that.
enum class right { panels, rows, columns, turned_panels };

/// result[rows][columns] = sum over t < depth of a[i * row_step + t * sum_step] * B[t][j].
struct product {
    const float* a;
    std::int64_t row_step, sum_step;
    const float* b;
    std::int64_t b_step;                ///< floats from one row of b to the next (unless panels)
    right b_layout;
    std::int64_t rows, columns, depth;  ///< all at least 1
    bool packed_result;                 ///< offsets and padding as in panels of [rows][columns], else row-major
    std::int64_t off, row;              ///< of the first element (one of several matrices)
    std::int64_t result_step = 0;       ///< from row to row of a row-major result; 0: its columns
    int col = 0;                        ///< of the first element, where the result is some columns of a wider one
};

/// The finished sums of some rows of a tile: [rows][width], of which `columns` are wanted.
struct finished {
    const float* sums;
    int rows, columns, width;
    std::int64_t off, off_step;         ///< offset of the first row in the result, and from row to row
    std::int64_t row;
    int col;
};

using tile_function = void (*)(const float* from, float* to, const float* x, std::int64_t row_step,
                               std::int64_t sum_step, const float* b, std::int64_t b_step, std::int64_t n, std::int64_t tiles);
using direct_function = void (*)(const float* from, const float* x, std::int64_t row_step, std::int64_t sum_step,
                                 const float* b, std::int64_t b_step, std::int64_t n, const finished&, const call&);

/// Tiles of one height below each other, from nothing; `done` tells of the first one's place.
using small_function = void (*)(const float* x, std::int64_t row_step, std::int64_t sum_step, const float* b, std::int64_t b_step,
                                std::int64_t n, std::int64_t tiles, const finished& done, const call&);

/// What a body gives the driver. `direct` may be null; it does a large tile of a whole panel without the detour over memory. So
/// may `expect`, which asks for the memory that `finish` will touch while the sums are still being computed.
struct finisher {
    void (*finish)(const finished&, const call&);
    direct_function direct = nullptr;
    void (*expect)(const finished&, const call&) = nullptr;
    void (*list)(const finished&, const call&, tile_lines&) = nullptr;   ///< what `expect` asks for, to be asked for line by line
    void (*columns)(const finished&, const call&) = nullptr;   ///< as finish, with the sums as [columns][width]
    small_function large = nullptr, small = nullptr;   ///< of small products: tiles of whole panels, summed and finished in registers
    bool by_part = false;   ///< the body has sums of its own for each part
    int arrays = 1;         ///< that the body writes
};

/// Rows as large tiles, then small ones, whose last may begin earlier and repeat rows; fewer than a small tile: singly.
struct row_cover {
    std::int64_t rows, large, count;
    __attribute__((noinline)) explicit constexpr row_cover(std::int64_t n) : rows(n), large(0), count(n) {
        if (n < small_tile_rows) return;
        std::int64_t least = n;
        const std::int64_t most = n / tile_rows;
        for (std::int64_t l = most; l >= 0 && l > most - small_tile_rows; --l) {
            const std::int64_t rest = n - l * tile_rows, small = (rest + small_tile_rows - 1) / small_tile_rows;
            if (const std::int64_t waste = small * small_tile_rows - rest; waste < least) {
                least = waste;
                large = l;
                count = l + small;
            }
        }
    }
    constexpr int height(std::int64_t t) const {
        return t < large ? tile_rows : rows < small_tile_rows ? 1 : small_tile_rows;
    }
    constexpr std::int64_t begin(std::int64_t t) const {   ///< first row that is new in tile t
        return t < large ? t * tile_rows : large * tile_rows + (t - large) * height(t);
    }
};

/// Calls tile(height, first row) for tiles of all rows; the height is a constant.
template <class F>
SINTER_INLINE void for_each_tile(std::int64_t rows, F tile) {
    const row_cover cover(rows);
    for (std::int64_t t = 0; t < cover.count; ++t) {
        const int height = cover.height(t);
        const std::int64_t i = cover.begin(t) + height <= rows ? cover.begin(t) : rows - height;
        if (height == tile_rows) tile(std::integral_constant<int, tile_rows>{}, i);
        else if (height == small_tile_rows) tile(std::integral_constant<int, small_tile_rows>{}, i);
        else tile(std::integral_constant<int, 1>{}, i);
    }
}

/// A panel that must be gathered is cut into pieces that stay in L1; one that is packed already streams well from L2.
inline constexpr std::int64_t gathered_floats = 8192, streamed_floats = 65536;
/// Rows whose sums are finished in one call.
inline constexpr std::int64_t finished_rows = 64;
/// A packed right operand that is probably not in the second-level cache, other weights having passed since: where there are few
/// rows, each panel is asked for while the one before it is multiplied.
inline constexpr std::int64_t far_floats = 49152;
/// A result that lies in L1 with what goes with it, and sums too short to hide anything behind: nothing is asked for. Of sums less than
/// twice as long, nothing that L2 holds.
inline constexpr std::int64_t near_floats = 4096, short_sum = 8;
/// A packed result that probably lies in no cache; of a smaller one nothing is asked for: the lines that are written follow each other, and
/// come in time. But of several arrays, as an optimizer's moments are, that do not fit into the second-level cache.
inline constexpr std::int64_t memory_floats = 1 << 20, cached_floats = lanes >= 16 ? 1 << 18 : 1 << 17;
inline bool lies_far(const product& q, const finisher& f) {
    return f.expect && q.rows * q.columns * f.arrays > (f.arrays > 1 ? cached_floats : memory_floats);
}
/// Where sums are too short for a line to come from memory meanwhile, lines are asked for so many tiles before.
inline constexpr std::int64_t expected_tiles = 4;
/// Tiles that carry their sums from piece to piece of a deep product: many, for each group of them gathers its panel anew.
inline constexpr int carried_tiles = 384 / tile_rows;

using ahead_function = decltype(&multiply_tile_ahead<tile_rows, false>);
template <bool Rows>
ahead_function ahead_of(bool large) {
    return large ? multiply_tile_ahead<tile_rows, Rows> : multiply_tile_ahead<small_tile_rows, Rows>;
}

template <int NR>
tile_function tile_of(int height) {
    return height == tile_rows ? multiply_tile<tile_rows, NR>
                               : height == small_tile_rows ? multiply_tile<small_tile_rows, NR> : multiply_tile<1, NR>;
}

/// Copies rows [t, t + n) of panel columns [j0, j0 + w) to [n][w], zeros where the matrix ends.
template <class = void>
__attribute__((noinline)) inline void gather_panel(const product& q, std::int64_t j0, int w, std::int64_t t,
                                                   std::int64_t n, float* to) {
    if (q.b_layout == right::turned_panels) return gather_turned_panel(q.b, q.columns, q.depth, j0, w, t, n, to);
    const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
    if (q.b_layout == right::columns) {
        if (there < w)
            for (std::int64_t i = 0; i < n * w; i += lanes) store(to + i, zero());
        transpose_matrix(q.b + j0 * q.b_step + t, q.b_step, there, n, to, w, there < w);
        return;
    }
    const float* from = q.b + t * q.b_step + j0;
    for (std::int64_t i = 0; i < n; ++i, from += q.b_step, to += w)
        for (int j = 0; j < w; j += lanes)
            store(to + j, there - j >= lanes ? load(from + j) : there > j ? load(from + j, there - j) : zero());
}

/// to = the sums of one row by P whole panels. A single panel's two chains of multiply-adds would wait for each other, and one stream of
/// weights for memory.
template <int P>
__attribute__((noinline)) void multiply_row(float* to, const float* x, std::int64_t sum_step, const float* b,
                                            std::int64_t panel_step, std::int64_t n) {
    vf s[2 * P];
    unroll<2 * P>([&](int i) SINTER_ALWAYS { s[i] = zero(); });
    do {
        const vf a = splat(*x);
        unroll<2 * P>([&](int i) SINTER_ALWAYS { s[i] = fma(a, load(b + i / 2 * panel_step + i % 2 * lanes), s[i]); });
        x += sum_step;
        b += panel_width;
    } while (--n > 0);
    unroll<2 * P>([&](int i) SINTER_ALWAYS { store(to + i * lanes, s[i]); });
}

/// Fewer rows than the smallest tile has (prediction for one example): one after the other, each by as many panels at once as
/// registers can sum. The parts share the panels, which are packed ones. Every element is summed as a tile does it.
template <class = void>
__attribute__((noinline)) inline void run_rows(const product& q, const finisher& f, const call& c, int part, int parts) {
    constexpr int at_once = 4;
    alignas(64) float sums[at_once * panel_width];
    const std::int64_t panels = (q.columns + panel_width - 1) / panel_width, panel_step = q.depth * panel_width;
    const bool narrow = panel_columns(q.columns, panels - 1, panel_width, lanes) < panel_width;   // the last one
    const std::int64_t off_step = q.result_step ? q.result_step : q.columns, end = share(panels, part + 1, parts);
    for (std::int64_t p = share(panels, part, parts), n = 1; p < end; p += n) {
        const std::int64_t wide = (narrow && end == panels ? end - 1 : end) - p, j0 = p * panel_width;
        n = wide >= at_once ? at_once : wide >= 2 ? 2 : 1;
        const int width = wide ? static_cast<int>(n) * panel_width : lanes;
        const int there = static_cast<int>(q.columns - j0 < width ? q.columns - j0 : width);
        const float* b = q.b + p * panel_step;
        for (std::int64_t i = 0; i < q.rows; ++i) {
            const float* x = q.a + i * q.row_step;
            if (n == at_once) multiply_row<at_once>(sums, x, q.sum_step, b, panel_step, q.depth);
            else if (n == 2) multiply_row<2>(sums, x, q.sum_step, b, panel_step, q.depth);
            else if (wide) multiply_row<1>(sums, x, q.sum_step, b, panel_step, q.depth);
            else multiply_tile<1, 1>(no_sum, sums, x, 0, q.sum_step, b, lanes, q.depth, 1);
            f.finish({sums, 1, there, width, q.off + i * off_step + j0, off_step, q.row + i, q.col + static_cast<int>(j0)}, c);
        }
    }
}

/// The tiles [tile, end) of one panel, where nothing has to be asked for and the whole depth is summed at once: equal ones below
/// each other are summed by one call and finished by one, for what is around a small tile takes as long as the tile itself.
template <class = void>
inline void run_near_tiles(const product& q, finished done, const finisher& f, const call& c, const row_cover& cover,
                           std::int64_t tile, std::int64_t end, const float* b, std::int64_t b_step, std::int64_t panel_off,
                           float* sums) {
    const bool wide = done.width == panel_width;
    const direct_function direct = done.columns == panel_width ? f.direct : nullptr;
    while (tile < end) {
        const bool large = tile < cover.large;
        const int height = cover.height(tile);
        const std::int64_t begin = cover.begin(tile), alike = (large && cover.large < end ? cover.large : end) - tile;
        const std::int64_t most = large ? (direct ? 1 : finished_rows / tile_rows) : finished_rows / small_tile_rows;
        std::int64_t tiles = alike < most ? alike : most;
        if (tiles > 1 && begin + tiles * height > q.rows) --tiles;   // the last one begins earlier
        const std::int64_t row = begin + height <= q.rows ? begin : q.rows - height;
        const float* x = q.a + row * q.row_step;
        done.sums = sums + (begin - row) * done.width;
        done.rows = static_cast<int>(row + tiles * height - begin);
        done.off = panel_off + begin * done.off_step;
        done.row = q.row + begin;
        if (const small_function whole = large ? f.large : f.small; whole && done.columns == panel_width && height > 1 && row == begin) {
            tiles = alike;
            if (begin + tiles * height > q.rows) --tiles;
            whole(x, q.row_step, q.sum_step, b, b_step, q.depth, tiles, done, c);
            tile += tiles;
            continue;
        }
        tile += tiles;
        if (large && direct) {
            direct(no_sum, x, q.row_step, q.sum_step, b, b_step, q.depth, done, c);
            continue;
        }
        (wide ? tile_of<2>(height) : tile_of<1>(height))(no_sum, sums, x, q.row_step, q.sum_step, b, b_step, q.depth, tiles);
        f.finish(done, c);
    }
}

/// The tiles [tile, end) of the product, numbered panel by panel. The body sees c as it is.
template <class = void>
__attribute__((noinline)) inline void run_tiles(const product& q, const finisher& f, const call& c, std::int64_t tile, std::int64_t end) {
    alignas(64) float gathered[gathered_floats];
    alignas(64) float carried[carried_tiles * tile_rows * panel_width];
    const row_cover cover(q.rows);
    const std::int64_t size = q.rows * q.columns;
    const bool far = q.packed_result && size > far_floats;
    const bool expect = (far ? lies_far(q, f) : f.expect && size > (q.depth < 2 * short_sum ? far_floats : near_floats)) &&
        q.depth >= short_sum;
    // Of a large packed result the lines of the tiles to come, which follow.
    const std::int64_t expected_ahead = far ? expected_tiles * tile_rows * panel_width : 0;
    std::int64_t gathered_panel = -1;
    while (tile < end) {
        const std::int64_t p = tile / cover.count, first = tile % cover.count, j0 = p * panel_width;
        const int w = panel_columns(q.columns, p, panel_width, lanes);
        const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
        // Few rows do not repay gathering, if the vectors can be read where they are.
        const bool gather = q.b_layout == right::columns || q.b_layout == right::turned_panels ||
                            (q.b_layout == right::rows && (cover.count > 2 || there < w));
        const std::int64_t piece = (gather ? gathered_floats : streamed_floats) / panel_width;
        std::int64_t group = cover.count - first < end - tile ? cover.count - first : end - tile;
        if (q.depth > piece && group > carried_tiles) group = carried_tiles;
        const bool wide = w == panel_width, carry = q.depth > piece;
        const int rest_height = cover.height(cover.large);
        const tile_function large = wide ? tile_of<2>(tile_rows) : tile_of<1>(tile_rows);
        const tile_function rest = wide ? tile_of<2>(rest_height) : tile_of<1>(rest_height);
        // The tiles of a panel share the next one's lines, a part of each line's floats for every tile.
        const bool turned = q.b_layout == right::turned_panels;
        const bool ahead = wide && (q.b_layout == right::panels || turned) && q.depth * q.columns > far_floats &&
                           cover.count <= panel_width && j0 + 2 * panel_width <= q.columns;
        const std::int64_t ahead_step = (panel_width + cover.count - 1) / cover.count;
        const std::int64_t off_step = q.packed_result ? w : q.result_step ? q.result_step : q.columns;
        finished done{nullptr, 0, q.packed_result ? w : there, w, 0, off_step, 0, q.col + static_cast<int>(j0)};
        const direct_function direct = done.columns == panel_width ? f.direct : nullptr;
        const std::int64_t panel_off = q.off + (q.packed_result ? j0 * q.rows : j0);
        if (!carry && !expect && !ahead) {
            const bool panels = q.b_layout == right::panels;
            const float* b = gather ? gathered : panels ? q.b + j0 * q.depth : q.b + j0;
            if (gather) gather_panel(q, j0, w, 0, q.depth, gathered);
            run_near_tiles(q, done, f, c, cover, first, first + group, b, gather || panels ? w : q.b_step, panel_off, carried);
            tile += group;
            continue;
        }
        for (std::int64_t t = 0; t < q.depth; t += piece) {
            const std::int64_t n = q.depth - t < piece ? q.depth - t : piece;
            const float* b = q.b_layout == right::panels ? q.b + j0 * q.depth + t * w : q.b + t * q.b_step + j0;
            const std::int64_t b_step = gather || q.b_layout == right::panels ? w : q.b_step;
            if (gather) {
                if (carry || gathered_panel != p) gather_panel(q, j0, w, t, n, gathered);
                gathered_panel = p;
                b = gathered;
            }
            const bool last = t + n == q.depth;
            float* sums = carried;
            for (std::int64_t i = first; i < first + group; ++i, sums += carry ? tile_rows * panel_width : 0) {
                const bool is_large = i < cover.large;
                const int height = is_large ? tile_rows : rest_height;
                const std::int64_t begin = cover.begin(i);
                const std::int64_t row = begin + height <= q.rows ? begin : q.rows - height;
                const float* x = q.a + row * q.row_step + t * q.sum_step;
                done.sums = sums + (begin - row) * w;
                done.rows = static_cast<int>(row + height - begin);
                done.off = panel_off + begin * off_step;
                done.row = q.row + begin;
                const float* from = t ? sums : no_sum;
                const bool asks_ahead = ahead && i * ahead_step < panel_width && (is_large || rest_height > 1);
                if (last && expect && f.list && wide && rest_height > 1 && !asks_ahead && !expected_ahead &&
                    !(is_large && direct)) {
                    tile_lines lines;
                    f.list(done, c, lines);
                    if (lines.count > 0 && lines.count <= n) {
                        const auto sum = is_large ? multiply_tile_asking<tile_rows> : multiply_tile_asking<small_tile_rows>;
                        sum(from, sums, x, q.row_step, q.sum_step, b, b_step, n, lines);
                        f.finish(done, c);
                        continue;
                    }
                }
                if (last && expect) {
                    done.off += expected_ahead;
                    f.expect(done, c);
                    done.off -= expected_ahead;
                }
                if (asks_ahead) {
                    const ahead_function sum = turned || ahead_step > floats_a_line ? ahead_of<true>(is_large) : ahead_of<false>(is_large);
                    expected_stream next{q.b + (j0 + panel_width + i * ahead_step) * q.depth + t * ahead_step, ahead_step};
                    if (!turned && cover.count == 1 && q.depth * panel_width > gathered_floats) {   // panels are read once, front to back
                        next.at = b + gathered_floats;
                    } else if (turned) {   // squares of the weights' panels: this panel's next piece, or the next one's first
                        const std::int64_t square = panel_width * ahead_step;
                        next.at = q.b + (last ? j0 + panel_width : j0) * panel_width + (last ? 0 : t + n) * q.columns + i * square;
                        next.jump = panel_width * q.columns - square;
                    }
                    sum(from, sums, x, q.row_step, q.sum_step, b, b_step, n, next);
                    if (last) f.finish(done, c);
                    continue;
                }
                if (last && is_large && direct) {
                    direct(from, x, q.row_step, q.sum_step, b, b_step, n, done, c);
                    continue;
                }
                (is_large ? large : rest)(from, sums, x, q.row_step, q.sum_step, b, b_step, n, 1);
                if (last) f.finish(done, c);
            }
        }
        tile += group;
    }
}

/// As run_tiles, where the left operand is known to be zero.
__attribute__((noinline)) inline void finish_zeros(const product& q, const finisher& f, const call& c, std::int64_t tile,
                                                   std::int64_t end) {
    const row_cover cover(q.rows);
    const std::int64_t off_step = q.result_step ? q.result_step : q.columns;
    for (; tile < end; ++tile) {
        const std::int64_t p = tile / cover.count, i = tile % cover.count, j0 = p * panel_width, begin = cover.begin(i);
        const int w = panel_columns(q.columns, p, panel_width, lanes), height = cover.height(i);
        const int rows = static_cast<int>(q.rows - begin < height ? q.rows - begin : height);
        const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
        f.finish({no_sum, rows, there, w, q.off + j0 + begin * off_step, off_step, q.row + begin, q.col + static_cast<int>(j0)}, c);
    }
}

/// Floats of the left operand that stay in the second-level cache while panels pass by.
inline constexpr std::int64_t blocked_floats = 24576;

/// As run_tiles, where the right operand lies in panels: of a long left operand some rows at a time, which come from afar once and
/// not for each panel.
template <class = void>
__attribute__((noinline)) inline void run_blocks(const product& q, const finisher& f, const call& c, std::int64_t tile, std::int64_t end) {
    const std::int64_t count = row_cover(q.rows).count, block = blocked_floats / (tile_rows * q.depth);
    if (block >= count || block * tile_rows < 2 * panel_width || end - tile <= count) return run_tiles(q, f, c, tile, end);
    for (std::int64_t first = 0; first < count; first += block)
        for (std::int64_t panel = tile / count * count; panel < end; panel += count) {   // its first tile
            const std::int64_t from = panel + first, to = panel + (first + block < count ? first + block : count);
            if (from < end && to > tile) run_tiles(q, f, c, from > tile ? from : tile, to < end ? to : end);
        }
}
/// So small, or of so few terms, that what is around its tiles would take as long as a quarter of their sums: a body has tiles of its own
/// for these. The right operand lies in L1, panels are whole, and nothing is asked for.
constexpr bool is_small_product(const product& q) {
    return q.rows >= small_tile_rows && q.columns % panel_width == 0 && q.depth * q.columns <= near_floats &&
           (q.rows * q.columns <= near_floats || q.depth < short_sum);
}
/// The tiles [tile, end) of such a product, numbered as by run_tiles. The right operand lies in panels, or in rows of whole vectors.
template <class = void>
__attribute__((noinline)) inline void run_small_product(const product& q, const finisher& f, const call& c, std::int64_t tile,
                                                        std::int64_t end) {
    alignas(64) float sums[finished_rows * panel_width];
    const row_cover cover(q.rows);
    const bool panels = q.b_layout == right::panels;
    const std::int64_t off_step = q.packed_result ? panel_width : q.result_step ? q.result_step : q.columns;
    for (std::int64_t p = tile ? tile / cover.count : 0, first = tile - p * cover.count; tile < end; ++p, first = 0) {
        const std::int64_t j0 = p * panel_width, left = end - tile, n = cover.count - first < left ? cover.count - first : left;
        const finished done{nullptr, 0, panel_width, panel_width, 0, off_step, 0, q.col + static_cast<int>(j0)};
        run_near_tiles(q, done, f, c, cover, first, first + n, q.b + (panels ? j0 * q.depth : j0), panels ? panel_width : q.b_step,
                       q.off + (q.packed_result ? j0 * q.rows : j0), sums);
        tile += n;
    }
}
/// How many tiles a product has.
inline std::int64_t tiles_of(const product& q) { return row_cover(q.rows).count * ((q.columns + panel_width - 1) / panel_width); }
template <class = void>
inline void run_product(const product& q, const finisher& f, const call& c, int part, int parts) {
    const std::int64_t tiles = tiles_of(q);
    run_tiles(q, f, c, share(tiles, part, parts), share(tiles, part + 1, parts));
}

/// Does the call for a thread's first part do all of that thread's parts (run_share)? And was this call's part done so?
inline bool does_all_parts(const finisher& f, const call& c) { return !f.by_part && c.end > c.first; }
inline bool is_done(const finisher& f, const call& c) { return does_all_parts(f, c) && c.part != c.first; }

using tiles_function = void (*)(const product&, const finisher&, const call&, std::int64_t tile, std::int64_t end);

/// The share of this call's part, by `run`; at once that of all parts of this thread, unless the body sums by parts: what is
/// gathered or looked for in the operands is then gathered once.
__attribute__((noinline)) inline void run_share(const product& q, const finisher& f, const call& c, tiles_function run) {
    if (is_done(f, c)) return;
    const bool together = does_all_parts(f, c);
    const std::int64_t tiles = tiles_of(q);
    run(q, f, c, share(tiles, c.part, c.parts), share(tiles, together ? c.end : c.part + 1, c.parts));
}

/// Which of the tiles [tile, end) make up whole panels of full width, a multiple of `several` of them.
struct panel_groups {
    std::int64_t first, end;            ///< tiles
    std::int64_t column, end_column;
    panel_groups(const product& q, std::int64_t tile, std::int64_t last, int several) {
        const std::int64_t count = row_cover(q.rows).count, p = (tile + count - 1) / count;
        std::int64_t e = last / count < q.columns / panel_width ? last / count : q.columns / panel_width;
        e = e > p ? p + (e - p) / several * several : p;
        first = e > p ? p * count : tile;
        end = e > p ? e * count : tile;
        column = p * panel_width;
        end_column = e * panel_width;
    }
};

} // namespace sinter::cpu
