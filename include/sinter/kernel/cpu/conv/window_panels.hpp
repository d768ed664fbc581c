// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/gemm/tile.hpp>

/// A convolution's windows as the left operand of a product: for a run of output pixels, some rows
/// of [taps * CI], copied so that a tile's loop reads them as one stream. Unlike the images
/// themselves, the copy has no strides of a power of two.
namespace sinter::inline SINTER_TARGET::cpu {

/// Extents and window of a convolution, as its kernels have them: x [H, W, CI] to y [OH, OW, CO] by
/// [KH, KW, CI, CO].
struct window_extents {
    int H, W, CI, OH, OW, CO, KH, KW, S, PT, PL;

    constexpr std::int64_t pixels() const { return std::int64_t{OH} * OW; }   ///< of one result
    constexpr std::int64_t image_floats() const { return std::int64_t{H} * W * CI; }
    constexpr int depth() const { return KH * KW * CI; }
    /// Where windows are single pixels side by side, an image is one long row: fewer seams.
    constexpr window_extents flat() const {
        if (KH > 1 || KW > 1 || S > 1 || PT || PL || H != OH || W != OW) return *this;
        return {1, H * W, CI, 1, OH * OW, CO, 1, 1, 1, 0, 0};
    }
};

/// Output pixels side by side in one row.
struct window_strip {
    const float* image;
    int y, x;        ///< of the first window's corner in the image; may be outside
    int count;
};

/// Cuts output pixels [first, last), numbered through all images, into strips of at most `most`.
/// Returns how many there are.
inline int cut_strips(const window_extents& e, const float* x, std::int64_t first, std::int64_t last, int most,
                      window_strip* to) {
    int n = 0;
    while (first < last) {
        const std::int64_t image = first / e.pixels(), row = first % e.pixels() / e.OW, column = first % e.OW;
        const std::int64_t count = std::min({last - first, e.OW - column, std::int64_t{most}});
        to[n++] = {x + image * e.image_floats(), static_cast<int>(row) * e.S - e.PT,
                   static_cast<int>(column) * e.S - e.PL, static_cast<int>(count)};
        first += count;
    }
    return n;
}

/// Rows of the windows that a tile takes: `rows` from place `at` of the line `ky` on. They may run
/// on into the next lines.
struct window_rows {
    int ky, at, rows, line;
    window_rows(const window_extents& e, int row, int n)
        : ky(row / (e.KW * e.CI)), at(row % (e.KW * e.CI)), rows(n), line(e.KW * e.CI) {}
};

namespace detail {

/// Rows of a tile that stand in one line of the windows: where the first window has them, and from
/// window to window.
struct window_run {
    const float* from;
    std::ptrdiff_t step;
    int at, rows;
};
/// What lines above and below the image are read from.
inline constexpr float no_line[tile_rows + lanes] = {};

/// One value of a window; zero outside of the image.
inline float window_value(const window_extents& e, const window_strip& s, int i, int ky, int at) {
    const int y = s.y + ky, x = (s.x + i * e.S) * e.CI + at;
    const bool in = y >= 0 && y < e.H && x >= 0 && x < e.W * e.CI;
    return in ? s.image[static_cast<std::ptrdiff_t>(y) * e.W * e.CI + x] : 0.f;
}
inline void copy_singly(const window_extents& e, const window_strip& s, const window_rows& r, int first, int last,
                        float* to, int height) {
    for (int i = first; i < last; ++i)
        for (int j = 0, ky = r.ky, at = r.at; j < r.rows; ++j) {
            to[i * height + j] = window_value(e, s, i, ky, at);
            if (++at == r.line) at = 0, ++ky;
        }
}

} // namespace detail

/// to[i * height + j] = row j of the strip's window i, for j < rows; what stands behind may be
/// anything. May write up to a vector behind the last window. Reads nothing from `end` on.
inline void copy_windows(const window_extents& e, const window_strip& s, const window_rows& r, const float* end,
                         float* to, int height) {
    detail::window_run runs[tile_rows];
    const int step = e.S * e.CI, width = e.W * e.CI;
    int n = 0, low = 0, high = s.count;   // windows [low, high) can be copied by vectors
    for (int j = 0, ky = r.ky, at = r.at; j < r.rows; ++ky, at = 0) {
        const int rows = std::min(r.rows - j, r.line - at), whole = (rows + lanes - 1) / lanes * lanes;
        const int y = s.y + ky, x = s.x * e.CI + at;
        if (y < 0 || y >= e.H) {
            runs[n++] = {detail::no_line, 0, j, rows};
        } else {
            const float* const from = s.image + static_cast<std::ptrdiff_t>(y) * width + x;
            if (x < 0) low = std::max(low, (step - 1 - x) / step);
            while (high > low && (x + (high - 1) * step + rows > width || end - from < (high - 1) * step + whole))
                --high;
            runs[n++] = {from, step, j, rows};
        }
        j += rows;
    }
    low = std::min(low, high);
    detail::copy_singly(e, s, r, 0, low, to, height);
    if (n == 1 && height == tile_rows) {
        const float* from = runs[0].from + low * runs[0].step;
        for (int i = low; i < high; ++i, from += runs[0].step)
            for (int j = 0; j < tile_rows; j += lanes) store(to + i * tile_rows + j, load(from + j));
    } else {   // a run spills over into the next one's place, which is written after it
        for (int i = low; i < high; ++i)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < runs[k].rows; j += lanes)
                    store(to + i * height + runs[k].at + j, load(runs[k].from + i * runs[k].step + j));
    }
    detail::copy_singly(e, s, r, high, s.count, to, height);
}

} // namespace sinter::cpu
