// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/conv_row.hpp>
#include <sinter/kernel/cpu/conv/padded_image.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Where a convolution reads its images from: in place, taps in the padding skipped, or (fewer than
/// four channels, where single taps make no loop, or on demand) from a padded copy of the current
/// image in the part's scratch space.
template <int H, int W, int CI, int OH, int OW, int KH, int KW, int S, int PT, int PL, bool Demand = false>
struct conv_source {
    using padded = padded_image<H, W, CI, (OH - 1) * S + KH, (OW - 1) * S + KW, PT, PL>;
    static constexpr bool fits = PT == 0 && PL == 0 && padded::height <= H && padded::width <= W;
    static constexpr bool copies = !fits && (Demand || CI < 4);
    static constexpr int height = copies ? padded::height : H, width = copies ? padded::width : W;
    static constexpr int top = copies ? 0 : PT, left = copies ? 0 : PL;
    static constexpr std::int64_t floats = copies ? round_up(padded::floats, 16) : 0,
                                  image_floats = std::int64_t{H} * W * CI;

    /// Image `i` of x; copies it if need be.
    static const float* image(const float* x, std::int64_t i, const call& c, bool first) {
        if constexpr (!copies) return x + i * image_floats;
        float* to = c.scratch + first_part(c) * floats;
        padded::copy(x + i * image_floats, to, first);
        return to;
    }

    /// Prefetches what the next row of the output reads besides, if images are large, so that they
    /// do not wait in a near cache.
    static SINTER_INLINE void prefetch_beyond(const float* x, int oy) {
        if constexpr (!copies && image_floats >= 1 << 16)
            base::prefetch_lines(x + (oy * S - top + KH) * (W * CI), 4 * S * W * CI);
    }
    /// The first N pixels of output row oy, V vectors each.
    template <int N, int V, class To>
    static SINTER_INLINE void row(const float* x, const float* w, int oy, To to) {
        const int y = oy * S - top, low = std::clamp(-y, 0, KH), high = std::clamp(height - y, low, KH);
        conv_row<width, CI, N, KW, S, left, V>::run(low < high ? x + (y + low) * (width * CI) : x, high - low,
                                                    w + low * (KW * CI * V * lanes), to);
    }
};

/// f(channels, image, weights, the image's number, first channel) for this part's images and all
/// panels of N channels, `channels` a constant, in the order that reads less memory: small weights
/// stay in cache while images pass; of large ones each panel is read once, with all images inside,
/// or all of them for each image, whichever is less.
template <class Source, int N, int Depth, class F>
SINTER_INLINE void for_source_and_panels(const call& c, F f) {
    constexpr int panel = 2 * lanes, whole = N / panel, rest = N % panel, panels = whole + (rest > 0);
    constexpr std::int64_t weights = std::int64_t{Depth} * N, floats = Source::image_floats;
    constexpr bool panels_outside =
        !Source::copies && weights > (std::int64_t{1} << 16) && floats * panels < floats + weights;
    const std::int64_t first = share(c.m, c.part, c.parts), images = share(c.m, c.part + 1, c.parts) - first;
    const float* x = nullptr;
    for (std::int64_t k = 0; k < images * panels; ++k) {
        const std::int64_t i = first + (panels_outside ? k % images : k / panels);
        const int p = static_cast<int>(panels_outside ? k / images : k % panels);
        if (panels_outside || p == 0) x = Source::image(c.p[conv_operand::source], i, c, k == 0);
        const float* const w = c.p[conv_operand::weights] + static_cast<std::int64_t>(p) * panel * Depth;
        if (p < whole) {
            if constexpr (whole > 0) f(std::integral_constant<int, panel>{}, x, w, i, p * panel);
        } else {
            if constexpr (rest > 0) f(std::integral_constant<int, rest>{}, x, w, i, p * panel);
        }
    }
}

} // namespace sinter::cpu
