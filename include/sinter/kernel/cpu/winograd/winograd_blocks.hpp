// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/cpu/vector/caches.hpp>
#include <sinter/kernel/cpu/winograd/winograd_transform.hpp>
#include <sinter/ops/conv2d.hpp>

/// Extents and blocks of convolutions by winograd_transform.hpp. All are told at run time: equal
/// bodies share a kernel.
namespace sinter::inline SINTER_TARGET::cpu {

/// x [H, W, CI] to y [OH, OW, CO], PT zero rows above and PL zero columns left; CI is a multiple of
/// the vector.
struct winograd_extents {
    int H, W, CI, OH, OW, CO, PT, PL;
    constexpr explicit winograd_extents(const std::int64_t* e)
        : H(at(e, winograd_extent::H)), W(at(e, winograd_extent::W)), CI(at(e, winograd_extent::CI)),
          OH(at(e, winograd_extent::OH)), OW(at(e, winograd_extent::OW)), CO(at(e, winograd_extent::CO)),
          PT(at(e, winograd_extent::above)), PL(at(e, winograd_extent::left)) {}
    constexpr int panels() const { return (CO + 2 * lanes - 1) / (2 * lanes); }

private:
    static constexpr int at(const std::int64_t* e, int i) { return static_cast<int>(e[i]); }
};

/// So many transformed floats, written for all parts to read, that they leave the second-level
/// cache before they are read.
constexpr bool leaves_caches(std::int64_t floats) { return floats > second_level_floats; }

/// Where tiles, and blocks of tiles and of channels, lie.
template <int M, int K>
struct winograd_blocks {
    static constexpr int T = M + K - 1, places = T * T, panel = 2 * lanes;
    static constexpr int channels = winograd_channels;   ///< transformed windows of a panel stay in L2
    static constexpr int most_tiles = (1 << 16) / (places * panel);        ///< as do a panel's products
    static constexpr int gap =
        16;   ///< floats between places: at a distance of a power of two they would share L1's sets
    winograd_extents x;
    int rows, columns;   ///< of tiles in an image
    constexpr explicit winograd_blocks(const winograd_extents& e)
        : x(e), rows((e.OH + M - 1) / M), columns((e.OW + M - 1) / M) {}

    constexpr std::int64_t tiles(std::int64_t images) const { return images * rows * columns; }
    constexpr std::int64_t patch_floats(std::int64_t tiles, std::int64_t blocks) const {
        return places * (tiles * x.CI + blocks * gap * ((x.CI + channels - 1) / channels));
    }
    /// First pixel of a tile in the results; and in the images, below the rows that the tile above
    /// reads, too.
    constexpr std::int64_t result(std::int64_t tile) const {
        const std::int64_t row = tile / columns;
        return (row / rows * x.OH + row % rows * M) * x.OW + tile % columns * M;
    }
    constexpr std::int64_t input(std::int64_t tile) const {
        const std::int64_t row = tile / columns;
        return (row / rows * x.H + row % rows * M + (row % rows ? T - M - x.PT : 0)) * x.W + tile % columns * M;
    }
    /// Transforms the tiles [tile, last), the first of them the `at`th of `n` in a block whose
    /// patches are at v: [channel block][place][tile][channel].
    template <bool NonTemporal>
    __attribute__((noinline)) void patches(const float* images, std::int64_t tile, std::int64_t last, std::int64_t at,
                                           std::int64_t n, float* v) const {
        const std::ptrdiff_t pixel = x.CI, line = x.W * pixel;
        std::int64_t row = tile / columns;   // of tiles
        for (int column = static_cast<int>(tile % columns); tile < last; ++row, column = 0) {
            const int y = static_cast<int>(row % rows) * M - x.PT;
            const float* const left = images + (row / rows * x.H + y) * line - x.PL * pixel;
            for (; column < columns && tile < last; ++column, ++tile, ++at) {
                const int first = column * M - x.PL;
                const patch_inside in{std::max(0, -y), std::min(T, x.H - y), std::max(0, -first),
                                      std::min(T, x.W - first)};
                const float* from = left + column * M * pixel;
                float* to = v;
                for (int c = 0; c < x.CI; c += channels, from += channels) {
                    const int width = std::min(channels, x.CI - c);
                    const std::int64_t step = n * width + gap;
                    transform_patch<T, NonTemporal>(from, line, pixel, in, width, to + at * width, step);
                    to += places * step;
                }
            }
        }
    }
};

} // namespace sinter::cpu
