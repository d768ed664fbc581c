// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/kernel/cpu/conv_nd/result_strips.hpp>
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>

/// The copies of a strip's sources.
namespace sinter::inline SINTER_TARGET::cpu {

/// Few floats: calls of memcpy and memset would take as long.
SINTER_INLINE void copy_floats(const float* from, int n, float* to) {
    int i = 0;
    for (; i + lanes <= n; i += lanes) store(to + i, load(from + i));
    if (i < n) store(to + i, load(from + i, n - i), n - i);
}
SINTER_INLINE void clear_floats(float* to, std::int64_t n) {
    for (; n >= lanes; n -= lanes, to += lanes) store(to, zero());
    if (n > 0) store(to, zero(), static_cast<int>(n));
}

/// One row of a copy, `width` pixels: n pixels from `from` on, `wanted` of each pixel's `channels`,
/// behind `before` in the padding; what is behind them is padding, too.
inline void copy_row(const float* from, int channels, std::int64_t wanted, int before, int n, int width, float* to) {
    clear_floats(to, before * wanted);
    to += before * wanted;
    if (wanted == channels) std::memcpy(to, from, 4 * static_cast<std::size_t>(n * wanted));
    else
        for (int i = 0; i < n; ++i)
            copy_floats(from + std::int64_t{i} * channels, static_cast<int>(wanted), to + i * wanted);
    clear_floats(to + n * wanted, (width - before - n) * wanted);
}
/// As they are, channels [col, col + wanted) of each pixel.
template <bool Backward>
void copy_sources(const result_strips<Backward>& all, const result_strip& s, const float* from, int channels, int col,
                  int wanted, float* to) {
    all.each_row(s, [&](std::int64_t at, std::int64_t first, int before, int n) {
        copy_row(from + first * channels + col, channels, wanted, before, n, all.width, to + at * wanted);
    });
}

/// Reads n floats that lie one behind the other, and will be wanted vector by vector, from pixels
/// far apart: that brings them into the second-level cache as fast as memory gives them, since a
/// processor foresees what is read in order. Prefetches do not make it do so.
inline void read_through(const float* p, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += floats_a_line) {
        std::int32_t bits;
        std::memcpy(&bits, p + i, sizeof bits);
        asm volatile("" : : "r"(bits));   // read, though nothing is done with it
    }
}
/// A block's arrays of results, gradients that come in for instance.
template <bool Backward>
void read_results(const result_blocks<Backward>& all, const result_block& b, const float* from, int channels) {
    for (int y = b.y0; y < b.y1; ++y)
        read_through(from + all.first_result(b, y) * channels, std::int64_t{b.columns()} * channels);
}
template <bool Backward>
void read_sources(const result_strips<Backward>& all, const result_strip& s, const float* from, int channels) {
    all.each_row(s, [&](std::int64_t, std::int64_t first, int, int n) {
        read_through(from + first * channels, std::int64_t{n} * channels);
    });
}

/// For one vector of result channels, of which each group has `results`: `depth` vectors a pixel,
/// in whose lanes stand the channels that the lanes' groups see. What beside the last channel lies
/// in a vector is anything.
struct spread_channels {
    const float* from;            ///< the first pixel's channels that the vector's groups see
    int channels, depth, span;    ///< of a pixel; a group's; all that the vector sees
    vi which;                     ///< lane l sees which[l] + d

    spread_channels(const float* x, int channels_, int depth_, int results, int col, int n)
        : from(x + col / results * depth_), channels(channels_), depth(depth_), span(0), which{} {
        for (int l = 0; l < n; ++l) which[l] = ((col + l) / results - col / results) * depth;
        span = which[n - 1] + depth;
    }
    void spread(std::int64_t pixel, int n, float* to) const {
        const float* x = from + pixel * channels;
        if (picks_lanes && span <= lanes)
            for (; n > 0; --n, x += channels) {
                const vf all = load(x, span);
                for (int d = 0; d < depth; ++d, to += lanes) store(to, pick_lanes(all, which + splat(d)));
            }
        else
            for (; n > 0; --n, x += channels)
                for (int d = 0; d < depth; ++d, to += lanes)
                    for (int l = 0; l < lanes; ++l) to[l] = x[which[l] + d];
    }
};
template <bool Backward>
void spread_sources(const result_strips<Backward>& all, const result_strip& s, const spread_channels& c, float* to) {
    const std::int64_t pixel_floats = std::int64_t{c.depth} * lanes;
    all.each_row(s, [&](std::int64_t at, std::int64_t pixel, int before, int n) {
        float* const row = to + at * pixel_floats;
        clear_floats(row, before * pixel_floats);
        c.spread(pixel, n, row + before * pixel_floats);
        clear_floats(row + (before + n) * pixel_floats, (all.width - before - n) * pixel_floats);
    });
}

} // namespace sinter::cpu
