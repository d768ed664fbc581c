// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>
#include <sinter/kernel/cpu/general_convolution/result_strips.hpp>

/// The copies of a strip's sources.
namespace sinter::cpu {

/// As they are: `channels` floats a pixel.
template <bool Backward>
void copy_sources(const result_strips<Backward>& all, const result_strip& s, const float* from, int channels, float* to) {
    all.each_row(s, [&](std::int64_t at, std::int64_t pixel, int before, int n) {
        float* const row = to + at * channels;
        std::fill_n(row, std::int64_t{before} * channels, 0.f);
        std::memcpy(row + std::int64_t{before} * channels, from + pixel * channels, 4 * static_cast<std::size_t>(n) * channels);
        std::fill(row + std::int64_t{before + n} * channels, row + std::int64_t{all.width} * channels, 0.f);
    });
}

/// For one vector of result channels, of which each group has `results`: `depth` vectors a pixel, in whose lanes stand the channels
/// that the lanes' groups see. What beside the last channel lies in a vector is anything.
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
        if (depth == 1 && span >= lanes)   // every channel by itself
            for (; n > 0; --n, x += channels, to += lanes) store(to, load(x));
        else if (picks_lanes && span <= lanes)
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
        std::fill_n(row, before * pixel_floats, 0.f);
        c.spread(pixel, n, row + before * pixel_floats);
        std::fill(row + (before + n) * pixel_floats, row + all.width * pixel_floats, 0.f);
    });
}

} // namespace sinter::cpu
