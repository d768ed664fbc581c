// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <cstdint>

#include <algorithm>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/winograd/winograd_axis.hpp>

/// Winograd's minimal filtering F(M x M, K x K) (Lavin and Gray 2016): a tile of M x M outputs is
/// the inverse transform of products, place by place, of a transformed (M + K - 1) x (M + K - 1)
/// patch and the transformed window. Summed over channels, each place is a matrix product. All this
/// knows no extents but M and K: a program compiles it once.
namespace sinter::inline SINTER_TARGET::cpu {

/// A transform along both axes: `In` places of each become `Out`; get(row, column) loads, put(row,
/// column, v) stores.
template <int In, int Out, class Along, class Get, class Put>
SINTER_INLINE void transform_both(Along along, Get get, Put put) {
    vf half[std::size_t{Out}][std::size_t{In}];
    for (int b = 0; b < In; ++b) {
        vf d[std::size_t{In}], q[std::size_t{Out}];
        unroll<In>([&](int a) SINTER_ALWAYS { d[a] = get(a, b); });
        along(d, q);
        unroll<Out>([&](int a) SINTER_ALWAYS { half[a][b] = q[a]; });
    }
    for (int a = 0; a < Out; ++a) {
        vf q[std::size_t{Out}];
        along(half[a], q);
        unroll<Out>([&](int b) SINTER_ALWAYS { put(a, b, q[b]); });
    }
}

/// The part of a patch that lies inside the image: rows [top, bottom), columns [left, right) of it.
struct patch_inside {
    int top, bottom, left, right;
};

/// Channels that a patch is transformed of at once.
inline constexpr int winograd_channels = 64;

/// Transforms `n` channels (whole vectors, winograd_channels at most) of the patch at x; place f of
/// channel c goes to v[f * step + c].
template <int T, bool NonTemporal = false>
__attribute__((noinline)) void transform_patch(const float* x, std::ptrdiff_t row, std::ptrdiff_t pixel,
                                               patch_inside in, int n, float* v, std::ptrdiff_t step) {
    const auto along = [](const vf* d, vf* q) SINTER_ALWAYS { winograd_points<T>::patch(d, q); };
    const auto put = [&](int a, int b, vf q) SINTER_ALWAYS { store_or_stream<NonTemporal>(v + (a * T + b) * step, q); };
    if (in.top == 0 && in.left == 0 && in.bottom == T && in.right == T) {
        for (int c = 0; c < n; c += lanes, x += lanes, v += lanes)
            transform_both<T, T>(along, [&](int a, int b) SINTER_ALWAYS { return load(x + a * row + b * pixel); }, put);
    } else {
        alignas(64) static constexpr float outside[winograd_channels] = {};
        const float* at[std::size_t{T * T}];
        for (int i = 0; i < T * T; ++i) {
            const int a = i / T, b = i % T;
            at[i] = a >= in.top && a < in.bottom && b >= in.left && b < in.right ? x + a * row + b * pixel : outside;
        }
        for (int c = 0; c < n; c += lanes, v += lanes)
            transform_both<T, T>(along, [&](int a, int b) SINTER_ALWAYS { return load(at[a * T + b] + c); }, put);
    }
}

/// Transforms `n` input channels of a panel's windows: tap k of channel c lies at w + (k * channels
/// + c) * width, place f of it goes to u[f * step + c * 2 * lanes]. A panel of one vector is filled
/// up with zeros. Where a channel's places are a line each, the next one's are prefetched: they lie
/// in the second-level cache, and stores wait for each other.
template <int M, int K>
__attribute__((noinline)) void transform_windows(const float* w, std::int64_t channels, int width, int n, float* u,
                                                 std::ptrdiff_t step) {
    using axis = winograd_axis<M, K>;
    constexpr int T = axis::size;
    constexpr bool prefetches = 2 * lanes == floats_a_line;
    for (int c = 0; c < n; ++c, w += width, u += 2 * lanes)
        for (int j = 0; j < 2 * lanes; j += lanes) {
            const bool there = j < width;
            transform_both<K, T>([](const vf* d, vf* q) SINTER_ALWAYS { axis::window(d, q); },
                                 [&](int a, int b) SINTER_ALWAYS {
                                     return there ? load(w + (a * K + b) * channels * width + j) : zero();
                                 },
                                 [&](int a, int b, vf q) SINTER_ALWAYS {
                                     float* const to = u + (a * T + b) * step + j;
                                     store(to, q);
                                     if (prefetches && j == 0) __builtin_prefetch(to + 2 * lanes, 1);
                                 });
        }
}

/// A panel's products of one tile (place f at m + f * step) back to its M x M outputs: pixels side
/// by side, rows `row` apart.
template <int M, int K>
__attribute__((noinline)) void transform_products(const float* m, std::ptrdiff_t step, float* y, std::ptrdiff_t row) {
    using axis = winograd_axis<M, K>;
    constexpr int T = axis::size;
    for (int j = 0; j < 2 * lanes; j += lanes)
        transform_both<T, M>([](const vf* d, vf* q) SINTER_ALWAYS { axis::outputs(d, q); },
                             [&](int a, int b) SINTER_ALWAYS { return load(m + (a * T + b) * step + j); },
                             [&](int a, int b, vf q) SINTER_ALWAYS { store(y + a * row + b * (2 * lanes) + j, q); });
}

/// The adjoint of that: what the gradient of a tile's outputs is to its products. The first `rows`
/// x `columns` outputs at y are there, and the first `n` channels of the panel; place f goes to m +
/// f * step.
template <int M, int K, bool NonTemporal = false>
__attribute__((noinline)) void transform_output_gradients(const float* y, std::ptrdiff_t row, std::ptrdiff_t pixel,
                                                          int rows, int columns, int n, float* m, std::ptrdiff_t step) {
    using axis = winograd_axis<M, K>;
    constexpr int T = axis::size;
    for (int j = 0; j < 2 * lanes; j += lanes) {
        const int there = std::clamp(n - j, 0, lanes);
        transform_both<M, T>(
            [](const vf* d, vf* q) SINTER_ALWAYS { axis::outputs_adjoint(d, q); },
            [&](int a, int b) SINTER_ALWAYS {
                const float* from = y + a * row + b * pixel + j;
                return a >= rows || b >= columns ? zero() : there == lanes ? load(from) : load(from, there);
            },
            [&](int a, int b, vf q) SINTER_ALWAYS { store_or_stream<NonTemporal>(m + (a * T + b) * step + j, q); });
    }
}

/// The sum of `copies` gradients of transformed windows (`copy` floats apart, place f of channel c
/// at f * step + c * 2 * lanes), back to the K x K taps of `n` channels: tap k of channel c goes to
/// g + (k * n + c) * 2 * lanes. Columns from `columns` on become zero.
template <int M, int K>
__attribute__((noinline)) void transform_window_gradients(const float* u, std::ptrdiff_t step, int copies,
                                                          std::ptrdiff_t copy, int n, int columns, float* g) {
    using axis = winograd_axis<M, K>;
    constexpr int T = axis::size;
    for (int c = 0; c < n; ++c, u += 2 * lanes, g += 2 * lanes)
        for (int j = 0; j < 2 * lanes; j += lanes)
            transform_both<T, K>([](const vf* d, vf* q) SINTER_ALWAYS { axis::window_adjoint(d, q); },
                                 [&](int a, int b) SINTER_ALWAYS {
                                     vf sum = load(u + (a * T + b) * step + j);
                                     for (int k = 1; k < copies; ++k)
                                         sum += load(u + k * copy + (a * T + b) * step + j);
                                     return sum;
                                 },
                                 [&](int a, int b, vf q) SINTER_ALWAYS {
                                     float* const to = g + (a * K + b) * n * (2 * lanes) + j;
                                     store(to, q);
                                     for (int l = std::max(columns - j, 0); l < lanes; ++l) to[l] = 0;
                                 });
}

} // namespace sinter::cpu
