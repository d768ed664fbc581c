// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/run_blocks.hpp>
#include <sinter/kernel/cpu/gemm/run_share.hpp>

/// Products whose bodies compute functions of their sums. Such a function is a chain of operations,
/// each of which waits for the one before, and behind a tile there is little else to do. So a
/// tile's sums pass through the body while the next tile is summed: a row of them, some iterations
/// of the multiply loop, the next row. That takes registers beside the sums: all tiles are small
/// ones. (multiply_while_finishing in epilogue.hpp does so with an optimizer's update of packed
/// weights. What holds that up is one slow unit and not the chain, so there single vectors follow
/// each other, an iteration apart.)
namespace sinter::inline SINTER_TARGET::cpu {

using pipelined_function = void (*)(float* to, const float* x, std::int64_t row_step, const float* b, std::int64_t n,
                                    const finished& now, const finished& before, prefetch_stream, const call&);

/// One small tile, from nothing; meanwhile the body is given the tile `before`, if that has rows.
/// The lines that it will touch when this tile, `now`, is done are prefetched at the same time,
/// and, one in each iteration, those that are expected.
template <class Body, int MR>
__attribute__((noinline)) void multiply_and_finish_before(float* to, const float* x, std::int64_t row_step,
                                                          const float* b, std::int64_t n, const finished& now,
                                                          const finished& before, prefetch_stream s, const call& by) {
    const call c = by;
    const float* sums = before.sums;
    std::int64_t off = before.off, next = now.off, row = before.row;
    const std::int64_t iterations = n / MR, off_step = now.off_step;
    const int col = before.col, rows = before.rows;
    vf sum[std::size_t{2 * MR}];
    clear_block(sum);
    const auto multiply = [&](std::int64_t t) SINTER_ALWAYS {
        accumulate<MR, 2>(sum, x, row_step, 1, b, panel_width, t, [&]() SINTER_ALWAYS {
            __builtin_prefetch(s.at, 0, 2);
            s.at += s.step;
        });
        x += t;
        b += t * panel_width;
    };
    for (int i = 0; i < MR; ++i, next += off_step) {
        Body::prefetch(1, panel_width, next, 0, c);
        if (i < rows) Body::two_vectors(load(sums), load(sums + lanes), off, row, col, c);
        sums += panel_width;
        off += off_step;
        ++row;
        multiply(iterations);
    }
    if (const std::int64_t rest = n - MR * iterations) multiply(rest);
    unroll<2 * MR>([&](int i) SINTER_ALWAYS { store(to + i * lanes, sum[i]); });
}

/// Is that worth it? A body of a few operations is done as fast as its sums are stored; one that
/// adds up columns has them in registers.
template <class Body>
constexpr bool follows_well() {
    if constexpr (requires { Body::operations; }) return registers >= 32 && Body::operations >= 12 && Body::sums == 0;
    else return false;
}
/// Are its tiles whole ones, and as long as to do something meanwhile? The right operand lies in
/// panels.
constexpr bool suits_pipelining(const product& q) {
    return q.rows >= small_tile_rows && q.columns % panel_width == 0 && q.depth >= 4 * small_tile_rows &&
           q.depth <= streamed_floats / panel_width;
}
inline std::int64_t pipelined_tiles(std::int64_t rows) { return (rows + small_tile_rows - 1) / small_tile_rows; }

/// The tiles [tile, end), numbered panel by panel, in the order of run_blocks.
template <class = void>
__attribute__((noinline)) inline void run_pipelined(const product& q, const epilogue& f, pipelined_function follow,
                                                    const call& c, std::int64_t tile, std::int64_t end) {
    constexpr int height = small_tile_rows;
    alignas(64) float sums[2][height * panel_width];
    const std::int64_t count = pipelined_tiles(q.rows), most = blocked_floats / (height * q.depth);
    const std::int64_t block = most * height < 2 * panel_width || end - tile <= count ? count : most;
    const bool ahead = q.depth * q.columns > non_temporal_floats && count <= panel_width && !q.by_rows;
    const std::int64_t mine =
        ahead ? thread_end(c, count * (q.columns / panel_width)) : 0;    // other threads' panels are not prefetched
    const std::int64_t ahead_step = (panel_width + count - 1) / count;   // the panel's tiles share the next one's lines
    finished before{sums[0], 0, panel_width, panel_width, 0, q.columns, 0, 0};
    bool odd = false;
    const auto one = [&](std::int64_t p, std::int64_t i) {
        const std::int64_t j0 = p * panel_width, begin = i * height,
                           row = begin + height <= q.rows ? begin : q.rows - height;
        finished now = before;
        now.sums = sums[odd] + (begin - row) * panel_width;
        now.rows = static_cast<int>(row + height - begin);
        now.off = q.off + j0 + begin * q.columns;
        now.row = q.row + begin;
        now.col = q.col + static_cast<int>(j0);
        const bool prefetches = (p + 1) * count < mine && i * ahead_step < panel_width;
        const float* const next = prefetches ? q.b + (j0 + panel_width + i * ahead_step) * q.depth : no_sum;
        follow(sums[odd], q.a + row * q.row_step, q.row_step, q.b + j0 * q.depth, q.depth, now, before,
               {next, prefetches ? ahead_step : 0}, c);
        before = now;
        odd = !odd;
    };
    for (std::int64_t first = 0; first < count; first += block)
        for (std::int64_t panel = tile / count * count; panel < end; panel += count) {   // its first tile
            const std::int64_t last = panel + (first + block < count ? first + block : count);
            for (std::int64_t t = panel + first < tile ? tile : panel + first; t < last && t < end; ++t)
                one(panel / count, t - panel);
        }
    if (before.rows) f.finish(before, c);
}

/// The share of this call's part, or of all of its thread's.
template <class Body>
inline void run_pipelined_share(const product& q, const epilogue& f, const call& c) {
    if (is_done(f, c)) return;
    const pipelined_function follow = multiply_and_finish_before<Body, small_tile_rows>;
    if (q.by_rows) {
        const product r =
            rows_of_share(q, f, c, pipelined_tiles(q.rows), [](std::int64_t t) { return t * small_tile_rows; });
        if (r.rows < small_tile_rows) return run_tiles(r, f, c, 0, tiles_of(r));
        return run_pipelined(r, f, follow, c, 0, pipelined_tiles(r.rows) * (r.columns / panel_width));
    }
    const std::int64_t tiles = pipelined_tiles(q.rows) * (q.columns / panel_width);
    run_pipelined(q, f, follow, c, share(tiles, c.part, c.parts),
                  share(tiles, does_all_parts(f, c) ? c.end : c.part + 1, c.parts));
}

} // namespace sinter::cpu
