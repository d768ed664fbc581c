// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_source.hpp>
#include <sinter/kernel/cpu/nest.hpp>

namespace sinter::cpu {

/// Hands a row of N pixels of one panel (V vectors each, `valid` channels in all) from its buffer to the body.
template <class Body, int N, int V, int Valid>
SINTER_INLINE void emit_row(const float* row, std::int64_t off, std::int64_t pixel, int col, int channels,
                            const call& c) {
    for (int i = 0; i < N; ++i)
        unroll<V>([&](auto j) SINTER_ALWAYS {
            constexpr int n = Valid - j * lanes;
            const vf v = load(row + (i * V + j) * lanes);
            const std::int64_t at = off + static_cast<std::int64_t>(i) * channels + j * lanes;
            if constexpr (n >= lanes)
                Body::vector(v, at, pixel + i, col + j * lanes, c);
            else if constexpr (n > 0)
                Body::vector(v, n, at, pixel + i, col + j * lanes, c);
        });
}

/// y [m, OH, OW, CO] = the cross-correlation of x [m, H, W, CI] with w [KH, KW, CI, CO], stride S, PT zero rows above
/// and PL zero columns left of the image; what is missing below and to the right is zero too.
/// p[0] = x, p[1] = w packed as [KH * KW * CI][CO]. Body: off in y, row = pixel of y, col = channel.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct conv_forward {
    using source = conv_source<H, W, CI, OH, OW, KH, KW, S, PT, PL>;
    static constexpr int phases = 1, panel = 2 * lanes, whole = CO / panel, rest = CO % panel, depth = KH * KW * CI;
    static constexpr std::int64_t scratch(int parts) { return parts * source::floats; }
    static void finish(const call&) {}

    template <int V, int Valid>
    static void image(const float* x, const float* w, std::int64_t image, int col, const call& c) {
        alignas(64) float row[row_floats(OW)];
        for (int oy = 0; oy < OH; ++oy) {
            source::template row<OW, V>(x, w, oy, row);
            const std::int64_t pixel = (image * OH + oy) * OW;
            emit_row<Body, OW, V, Valid>(row, pixel * CO + col, pixel, col, CO, c);
        }
    }

    static void run(const call& c) {
        for_source_and_panels<source, CO, depth>(c, [&](const float* x, std::int64_t i, int p) SINTER_ALWAYS {
            const float* w = c.p[1] + static_cast<std::int64_t>(p) * panel * depth;
            if (p < whole) {
                if constexpr (whole > 0) image<2, panel>(x, w, i, p * panel, c);
            } else {
                if constexpr (rest > 0) image<(rest > lanes) + 1, rest>(x, w, i, p * panel, c);
            }
        });
    }
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
struct nest<op::conv, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0> {
    using type = conv_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
};

} // namespace sinter::cpu
