// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/convolution/conv_source.hpp>
#include <sinter/kernel/cpu/convolution/sparse_forward.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

namespace sinter::cpu {

/// Hands a row of N pixels of one panel (V vectors each, `Valid` channels in all) from its buffer to the body.
template <class Body, int N, int V, int Valid>
SINTER_INLINE void emit_row(const float* row, std::int64_t off, std::int64_t pixel, int col, int channels,
                            const call& c) {
    unroll<V>([&](auto j) SINTER_ALWAYS {
        constexpr int first = j * lanes, n = std::min(Valid - first, lanes);
        if constexpr (n <= 0) return;
        else if constexpr (requires { Body::template vectors<true>(row, 0, 0, 0, off, off, pixel, 0, c); })
            Body::template vectors<n == lanes>(row + first, V * lanes, N, n, off + first, channels, pixel, col + first, c);
        else
            for (int i = 0; i < N; ++i) {
                const vf v = load(row + i * V * lanes + first);
                const std::int64_t at = off + static_cast<std::int64_t>(i) * channels + first;
                if constexpr (n == lanes) Body::vector(v, at, pixel + i, col + first, c);
                else Body::vector(v, n, at, pixel + i, col + first, c);
            }
    });
}

/// Asks for what the body will touch in such a row, of images of `Floats`, before its sums are computed: pixels' pieces lie too far
/// apart for the processor to foresee them. Small images are in cache.
template <class Body, std::int64_t Floats, int N, int Valid>
SINTER_INLINE void expect_row(std::int64_t off, int channels, const call& c) {
    if constexpr (Floats >= 1 << 16 && requires { Body::expect(N, Valid, off, channels, c); }) Body::expect(N, Valid, off, channels, c);
}

/// y [m, OH, OW, CO] = the cross-correlation of x [m, H, W, CI] with w [KH, KW, CI, CO], stride S, PT zero rows above
/// and PL zero columns left of the image; what is missing below and to the right is zero too.
/// p[0] = x, p[1] = w packed as [KH * KW * CI][CO]. Body: off in y, row = pixel of y, col = channel.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct conv_forward {
    using source = conv_source<H, W, CI, OH, OW, KH, KW, S, PT, PL>;
    static constexpr int phases = 1, depth = KH * KW * CI;
    static constexpr std::int64_t scratch(int parts) { return parts * source::floats; }
    static void finish(const call&) {}

    template <int V, int Valid>
    static void image(const float* x, const float* w, std::int64_t image, int col, const call& c) {
        alignas(64) float row[row_floats(OW)];
        for (int oy = 0; oy < OH; ++oy) {
            const std::int64_t pixel = (image * OH + oy) * OW;
            expect_row<Body, std::int64_t{OH} * OW * CO, OW, Valid>(pixel * CO + col, CO, c);
            source::template row<OW, V>(x, w, oy, row);
            emit_row<Body, OW, V, Valid>(row, pixel * CO + col, pixel, col, CO, c);
        }
    }

    static void run(const call& c) {
        for_source_and_panels<source, CO, depth>(c, [&](auto valid, const float* x, const float* w, std::int64_t i, int col) SINTER_ALWAYS {
            image<(valid > lanes) + 1, valid>(x, w, i, col, c);
        });
    }
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
struct nest<op::conv, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0> {
    using dense = conv_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using sparse = sparse_forward<dense, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using type = std::conditional_t<sparse::pays, sparse, dense>;
};

} // namespace sinter::cpu
