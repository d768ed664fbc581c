// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>

/// Convolutions, element by element: what runs where the library has no algorithm (padding of
/// different width on both sides), and on the host. x = {H, W, CI, OH, OW, CO, KH, KW, stride, rows
/// above, columns left}; images [H][W][CI].
namespace sinter::inline SINTER_TARGET::gpu {

/// The taps of a window that see the image: [first, last) of `taps`, the window's first element at
/// `from`.
struct tap_range {
    int first, last;
    SINTER_HOST_DEVICE tap_range(int from, int taps, int extent)
        : first(from < 0 ? -from : 0), last(extent - from < taps ? extent - from : taps) {}
};

/// y [m][OH][OW][CO]; a = images, b = weights [KH][KW][CI][CO].
template <>
struct source<static_cast<int>(op::conv.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr library by = library::convolution;
    static constexpr convolution_part part = convolution_part::results;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*, const int* x) {
        return {m * x[conv_fixed::OH] * x[conv_fixed::OW], x[conv_fixed::CO]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int *x = s.x, W = x[conv_fixed::W], CI = x[conv_fixed::CI], CO = x[conv_fixed::CO],
                  KW = x[conv_fixed::kw];
        const int oy = static_cast<int>(at.row / x[conv_fixed::OW] % x[conv_fixed::OH]),
                  ox = static_cast<int>(at.row % x[conv_fixed::OW]);
        const int top = oy * x[conv_fixed::stride] - x[conv_fixed::above],
                  left = ox * x[conv_fixed::stride] - x[conv_fixed::left];
        const float* image =
            s.a + at.row / x[conv_fixed::OW] / x[conv_fixed::OH] * (std::int64_t{x[conv_fixed::H]} * W * CI);
        const tap_range v(top, x[conv_fixed::kh], x[conv_fixed::H]), h(left, KW, W);
        float sum = 0.f;
        for (int ky = v.first; ky < v.last; ++ky)
            for (int kx = h.first; kx < h.last; ++kx) {
                const float* pixel = image + ((top + ky) * W + left + kx) * CI;
                const float* w = s.b + static_cast<std::int64_t>(ky * KW + kx) * CI * CO + at.col;
                for (int i = 0; i < CI; ++i) sum += pixel[i] * w[i * CO];
            }
        return sum;
    }
};

/// dx [m][H][W][CI]; a = dy, b = weights as `conv_transpose` below leaves them.
template <>
struct source<static_cast<int>(op::conv_input_gradient.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr library by = library::convolution;
    static constexpr convolution_part part = convolution_part::input_gradient;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*, const int* x) {
        return {m * x[conv_fixed::H] * x[conv_fixed::W], x[conv_fixed::CI]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int *x = s.x, CI = x[conv_fixed::CI], OH = x[conv_fixed::OH], OW = x[conv_fixed::OW],
                  CO = x[conv_fixed::CO], KH = x[conv_fixed::kh], KW = x[conv_fixed::kw], S = x[conv_fixed::stride];
        const int y = static_cast<int>(at.row / x[conv_fixed::W] % x[conv_fixed::H]) + x[conv_fixed::above],
                  i = static_cast<int>(at.row % x[conv_fixed::W]) + x[conv_fixed::left];
        const float* dy = s.a + at.row / x[conv_fixed::W] / x[conv_fixed::H] * (std::int64_t{OH} * OW * CO);
        float sum = 0.f;
        for (int ky = y % S; ky < KH && ky <= y; ky += S)
            for (int kx = i % S; kx < KW && kx <= i; kx += S) {
                const int oy = (y - ky) / S, ox = (i - kx) / S;
                if (oy >= OH || ox >= OW) continue;
                const float* d = dy + (oy * OW + ox) * CO;
                const float* w = s.b + static_cast<std::int64_t>(ky * KW + kx) * CI + at.col;
                for (int o = 0; o < CO; ++o) sum += d[o] * w[static_cast<std::int64_t>(o) * KH * KW * CI];
            }
        return sum;
    }
};

/// dw [KH][KW][CI][CO], summed over the m images in their order; a = images, b = dy.
template <>
struct source<static_cast<int>(op::conv_weight_gradient.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr library by = library::convolution;
    static constexpr convolution_part part = convolution_part::weights_gradient;
    static constexpr walk_extents walk(std::int64_t, const std::int64_t*, const int* x) {
        return {std::int64_t{x[conv_fixed::kh]} * x[conv_fixed::kw] * x[conv_fixed::CI], x[conv_fixed::CO]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int *x = s.x, H = x[conv_fixed::H], W = x[conv_fixed::W], CI = x[conv_fixed::CI], OH = x[conv_fixed::OH],
                  OW = x[conv_fixed::OW], CO = x[conv_fixed::CO], S = x[conv_fixed::stride];
        const int ci = static_cast<int>(at.row % CI), kx = static_cast<int>(at.row / CI % x[conv_fixed::kw]);
        const int top = static_cast<int>(at.row / CI / x[conv_fixed::kw]) - x[conv_fixed::above],
                  left = kx - x[conv_fixed::left];
        float sum = 0.f;
        for (std::int64_t n = 0; n < s.m; ++n) {
            const float* image = s.a + n * H * W * CI + ci;
            const float* dy = s.b + n * OH * OW * CO + at.col;
            float own = 0.f;   // by images: shorter chains of roundings
            for (int oy = 0; oy < OH; ++oy) {
                const int y = oy * S + top;
                if (y < 0 || y >= H) continue;
                for (int ox = 0; ox < OW; ++ox) {
                    const int i = ox * S + left;
                    if (i >= 0 && i < W) own += image[(y * W + i) * CI] * dy[(oy * OW + ox) * CO];
                }
            }
            sum += own;
        }
        return sum;
    }
};

/// Weights [KH][KW][CI][CO] as [CO][KH][KW][CI]: cuDNN's order, which serves the input gradient as
/// it is. a = weights; the walk has CO * KH * KW rows of CI columns.
template <int KH, int KW, int CI, int CO>   // places in x
struct filter_order : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t taps = std::int64_t{s.x[KH]} * s.x[KW], o = at.row / taps, tap = at.row % taps;
        return s.a[(tap * s.x[CI] + at.col) * s.x[CO] + o];
    }
};
template <>
struct source<static_cast<int>(op::conv_transpose.id)> : filter_order<0, 1, 2, 3> {   // its own extents are these four
    static constexpr walk_extents walk(std::int64_t, const std::int64_t*, const int* x) {
        using namespace transposed_weights_fixed;
        return {std::int64_t{x[CO]} * x[kh] * x[kw], x[CI]};
    }
};
template <>
struct source<from_filter> : filter_order<6, 7, 2, 5> {};                            // a convolution's extents

} // namespace sinter::gpu
