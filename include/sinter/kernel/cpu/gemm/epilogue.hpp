// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The only part of a matrix product that is compiled for each body: it walks a finished tile.
///
/// A body has `static void vector(vf acc, std::int64_t off, std::int64_t row, int col, const
/// call&)` for a whole vector of sums and the same with `int n` after the sums for the first n
/// lanes. It may have `vectors`, which does one vector's columns of all the tile's rows (body.hpp).
namespace sinter::inline SINTER_TARGET::cpu {

/// `Whole`: the columns fill vectors.
template <class Body, bool Whole = false>
__attribute__((noinline)) void finish_tile(const finished& done, const call& by) {
    const finished t = done;   // copies: the body's stores cannot be seen to leave the originals alone
    const call c = by;
    if constexpr (requires { Body::template vectors<true>(t.sums, 0, 0, 0, t.off, t.off, t.row, 0, c); }) {
        for (int j = 0; j < t.columns; j += lanes) {
            const int n = t.columns - j;
            if constexpr (requires { requires Body::draws; })
                if (n >= 2 * lanes) {
                    Body::vector_pairs(t.sums + j, t.width, t.rows, t.off + j, t.off_step, t.row, t.col + j, c);
                    j += lanes;
                    continue;
                }
            if (Whole || n >= lanes)
                Body::template vectors<true>(t.sums + j, t.width, t.rows, lanes, t.off + j, t.off_step, t.row,
                                             t.col + j, c);
            else if constexpr (!Whole)
                Body::template vectors<false>(t.sums + j, t.width, t.rows, n, t.off + j, t.off_step, t.row, t.col + j,
                                              c);
        }
    } else {
        for (int i = 0; i < t.rows; ++i)
            for (int j = 0; j < t.columns; j += lanes)
                Body::vector(load(t.sums + i * t.width + j), t.columns - j < lanes ? t.columns - j : lanes,
                             t.off + i * t.off_step + j, t.row + i, t.col + j, c);
    }
}

/// Prefetches all that the body will touch of a tile.
template <class Body>
__attribute__((noinline)) void prefetch_tile(const finished& t, const call& c) {
    Body::prefetch(t.rows, t.columns, t.off, t.off_step, c);
}
/// Lists it instead, line by line, for a loop that prefetches one at a time.
struct line_adder {
    const float**& to;
    const float** end;
    template <class Written>
    SINTER_INLINE void operator()(const float* p, Written) const {
        if (to < end) *to++ = p;
    }
};
template <class Body>
inline constexpr bool lists_lines = requires { &Body::template each_line<line_adder>; };
template <class Body>
__attribute__((noinline)) void list_tile(const finished& t, const call& c, tile_lines& lines) {
    const float** to = lines.line;   // in a register: a count in memory would be waited for at every line
    Body::each_line(t.rows, t.columns, t.off, t.off_step, c, line_adder{to, to + tile_lines::most});
    lines.count = static_cast<int>(to - lines.line);
}

/// A large tile of a whole panel, its sums handed to the body straight from the registers: 15
/// cycles less than by way of memory, at the price of a multiply loop of the body's own.
/// `Prefetches`: the lines that the body will touch, a row of them every so many iterations, of at
/// least as many as there are rows: many at once hold up the loop. Tiles of few rows have few
/// lines.
template <class Body, bool Prefetches = false>
__attribute__((noinline)) void multiply_and_finish(const float* from, const float* x, std::int64_t row_step,
                                                   std::int64_t sum_step, const float* b, std::int64_t b_step,
                                                   std::int64_t n, const finished& done, const call& by) {
    const call c = by;
    const std::int64_t off = done.off, off_step = done.off_step, row = done.row;
    const int col = done.col;
    vf sum[2 * tile_rows];
    unroll<2 * tile_rows>([&](int i) SINTER_ALWAYS { sum[i] = load(from + i * lanes); });
    if constexpr (Prefetches) {
        const std::int64_t iterations = n / tile_rows;
        for (std::int64_t i = 0; i < tile_rows; ++i, x += iterations * sum_step, b += iterations * b_step) {
            Body::prefetch(1, panel_width, off + i * off_step, 0, c);
            accumulate<tile_rows, 2>(sum, x, row_step, sum_step, b, b_step, iterations);
        }
        n -= iterations * tile_rows;
    }
    if (iterations_at_once > 1 && row_step == 1 && sum_step == tile_rows && b_step == panel_width)   // a copied tile
        accumulate<tile_rows, 2, iterations_at_once>(sum, x, 1, tile_rows, b, panel_width, n);
    else if (!Prefetches || n > 0) accumulate<tile_rows, 2>(sum, x, row_step, sum_step, b, b_step, n);
    unroll<2 * tile_rows>([&](int i) SINTER_ALWAYS {
        const int r = i / 2, v = i % 2 * lanes;
        Body::vector(sum[i], off + r * off_step + v, row + r, col + v, c);
    });
}

/// Is a tile's code, which has the body once for each vector of it, not too much? Adam's has some
/// twenty instructions.
template <class Body, int Most = 12>
constexpr bool is_moderate() {
    if constexpr (requires { Body::size; }) return Body::size <= Most;
    else return true;
}

/// As finish_tile, with sums that lie as [columns][input_block]: transposed in registers on their
/// way to the body. Columns fill vectors.
template <class Body>
__attribute__((noinline)) void finish_columns(const finished& done, const call& by) {
    const finished t = done;
    const call c = by;
    for (int i = 0; i < t.rows; i += lanes)
        for (int j = 0; j < t.columns; j += lanes) {
            vf r[lanes];
            load_transposed<input_block>(r, t.sums + j * input_block + i);
            const auto one = [&](int k) SINTER_ALWAYS {
                Body::vector(r[k], t.off + (i + k) * panel_width + j, t.row + i + k, t.col + j, c);
            };
            if constexpr (is_moderate<Body>())
                if (t.rows - i >= lanes) {
                    unroll<lanes>(one);
                    continue;
                }
            for (int k = 0; k < lanes && i + k < t.rows; ++k) one(k);
        }
}

/// Is the body hardly more than a store, as a bias and a store are? Then a multiply loop of its own
/// is little code.
template <class Body>
constexpr bool is_short() {
    if constexpr (requires { Body::size; }) return Body::size <= 4 && Body::sums == 0;
    else return true;
}

/// Tiles below each other, summed and finished in registers: what else is around a small product's
/// tiles takes as long as a quarter of their sums. `Prefetches`: the lines that the body will
/// touch, before each tile.
template <class Body, int MR, bool Prefetches = false>
__attribute__((noinline)) void multiply_and_finish_small(const float* x, std::int64_t row_step, std::int64_t sum_step,
                                                         const float* b, std::int64_t b_step, std::int64_t n,
                                                         std::int64_t tiles, const finished& done, const call& by) {
    const call c = by;
    const std::int64_t off_step = done.off_step;
    const int col = done.col;
    std::int64_t off = done.off, row = done.row;
    do {
        if constexpr (Prefetches) Body::prefetch(MR, panel_width, off, off_step, c);
        vf sum[std::size_t{2 * MR}];
        clear_block(sum);
        if constexpr (Prefetches) accumulate<MR, 2, iterations_at_once>(sum, x, row_step, 1, b, panel_width, n);
        else accumulate<MR, 2>(sum, x, row_step, sum_step, b, b_step, n);
        Body::template tile<MR, 2>(sum, off, off_step, row, col, c);
        x += MR * row_step;
        off += MR * off_step;
        row += MR;
    } while (--tiles > 0);
}

/// The same of bodies of many instructions, as Adam's is, where the result is packed and the left
/// operand lies transposed: a tile's vectors are finished one by one in every second iteration of
/// the next tile's loop, so that divisions and roots, which take turns in one slow unit, pass
/// beside multiply-adds.
template <class Body, int MR>
__attribute__((noinline)) void multiply_while_finishing(const float* x, std::int64_t, std::int64_t sum_step,
                                                        const float* b, std::int64_t b_step, std::int64_t n,
                                                        std::int64_t tiles, const finished& done, const call& by) {
    constexpr int all = 2 * MR * lanes;
    alignas(64) float sums[std::size_t{all}];
    const call c = by;
    const int col = done.col;
    std::int64_t off = done.off - all, row = done.row - MR;   // of the tile in `sums`, which waits to be finished
    std::int64_t at = all;                                    // from here on
    const auto finish_one = [&]() SINTER_ALWAYS {
        Body::vector(load(sums + at), off + at, row + at / panel_width, col + static_cast<int>(at % panel_width), c);
        at += lanes;
    };
    for (; tiles > 0; --tiles, x += MR) {
        vf sum[std::size_t{2 * MR}];
        clear_block(sum);
        bool second = false;
        accumulate<MR, 2>(sum, x, 1, sum_step, b, b_step, n, [&]() SINTER_ALWAYS {
            if (second && at < all) finish_one();
            second = !second;
        });
        while (at < all) finish_one();
        store_block<2>(sum, sums, panel_width);
        off += all;
        row += MR;
        at = 0;
    }
    while (at < all) finish_one();
}

/// `Direct`: worth the extra code where sums are short and the body runs once per weight, as the
/// optimizer's update. The result is packed. `Small`: some launch's product is a small one.
/// `Whole`: all results' columns fill vectors. `Prefetches`: run_tiles does most of the work.
template <class Body, bool Direct = false, bool Small = false, bool Whole = Direct, bool Prefetches = false>
constexpr epilogue epilogue_of() {
    epilogue f{finish_tile<Body, Whole>};
    if constexpr (requires(const call& c) { Body::prefetch(0, 0, 0, 0, c); }) f.prefetch = prefetch_tile<Body>;
    if constexpr ((Direct && is_moderate<Body>()) || is_short<Body>()) f.direct = multiply_and_finish<Body>;
    if constexpr (Prefetches && registers >= 32 && is_short<Body>() &&
                  requires(const call& c) { Body::prefetch(0, 0, 0, 0, c); })
        f.direct_prefetching = multiply_and_finish<Body, true>;
    if constexpr (
        Prefetches && registers < 32 && requires { Body::size; } &&
        requires(const call& c) { Body::prefetch(0, 0, 0, 0, c); })
        if constexpr (is_moderate<Body, 16>()) f.below = multiply_and_finish_small<Body, tile_rows, true>;
    if constexpr (Small && requires { Body::size; }) {
        if constexpr (is_moderate<Body>()) {
            f.large = multiply_and_finish_small<Body, tile_rows>;
            f.small = multiply_and_finish_small<Body, small_tile_rows>;
        } else if constexpr (Direct && Body::sums == 0) {
            f.small = multiply_while_finishing<Body, small_tile_rows>;
        }
    }
    if constexpr (lists_lines<Body>) f.list = list_tile<Body>;
    if constexpr (Direct) f.columns = finish_columns<Body>;
    if constexpr (requires { Body::sums; }) f.by_part = Body::sums > 0;
    if constexpr (requires { Body::stores; }) f.arrays = Body::stores;
    return f;
}

} // namespace sinter::cpu
