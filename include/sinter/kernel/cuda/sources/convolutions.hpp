// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>

/// Convolutions, element by element: what runs where the library has no algorithm, and on the host.
/// x = {H, W, CI, OH, OW, CO, KH, KW, stride, rows above, columns left}; images [H][W][CI].
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
template <>
struct source<static_cast<int>(op::conv_transpose.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t, const std::int64_t*, const int* x) {
        using namespace transposed_weights_fixed;
        return {std::int64_t{x[CO]} * x[kh] * x[kw], x[CI]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        using namespace transposed_weights_fixed;
        const std::int64_t taps = std::int64_t{s.x[kh]} * s.x[kw], o = at.row / taps, tap = at.row % taps;
        return s.a[(tap * s.x[CI] + at.col) * s.x[CO] + o];
    }
};

/// A convolution's filter with the margin of zeros that the library needs.
struct even_filter {
    const int* x;   ///< the convolution's extents
    filter_margin v = filter_margin::of(x[conv_fixed::H], x[conv_fixed::kh], x[conv_fixed::OH],
                                        x[conv_fixed::stride], x[conv_fixed::above]),
                  h = filter_margin::of(x[conv_fixed::W], x[conv_fixed::kw], x[conv_fixed::OW],
                                        x[conv_fixed::stride], x[conv_fixed::left]);
    constexpr explicit even_filter(const int* extents) : x(extents) {}
    constexpr int rows() const { return v.front + x[conv_fixed::kh] + v.behind; }
    constexpr int columns() const { return h.front + x[conv_fixed::kw] + h.behind; }
    constexpr bool has_margin() const { return v.front + v.behind + h.front + h.behind > 0; }
    constexpr std::int64_t floats() const {
        return std::int64_t{rows()} * columns() * x[conv_fixed::CI] * x[conv_fixed::CO];
    }
    constexpr void tell(source_call& s) const {
        s.e[filter_extent::rows] = rows();
        s.e[filter_extent::columns] = columns();
        s.e[filter_extent::first_row] = v.front;
        s.e[filter_extent::first_column] = h.front;
    }
};
/// Rows of a walk over a filter [CO][rows][columns][CI] that has a margin of zeros (filter_extent);
/// x are a convolution's extents.
struct filter_tap {
    std::int64_t o;
    int ky, kx;   ///< among the filter's own
    bool own;     ///< no zero of the margin

    SINTER_HOST_DEVICE filter_tap(const source_call& s, std::int64_t row)
        : o(row / (s.e[filter_extent::rows] * s.e[filter_extent::columns])),
          ky(static_cast<int>(row / s.e[filter_extent::columns] % s.e[filter_extent::rows] -
                              s.e[filter_extent::first_row])),
          kx(static_cast<int>(row % s.e[filter_extent::columns] - s.e[filter_extent::first_column])),
          own(ky >= 0 && ky < s.x[conv_fixed::kh] && kx >= 0 && kx < s.x[conv_fixed::kw]) {}
};
template <>
struct source<from_filter> : plain_source {   // a = weights [KH][KW][CI][CO]
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const filter_tap t(s, at.row);
        const std::int64_t tap = std::int64_t{t.ky} * s.x[conv_fixed::kw] + t.kx;
        return t.own ? s.a[(tap * s.x[conv_fixed::CI] + at.col) * s.x[conv_fixed::CO] + t.o] : 0.f;
    }
};
template <>
struct source<from_ordered_filter> : plain_source {   // a = weights [CO][KH][KW][CI]
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const filter_tap t(s, at.row);
        const std::int64_t tap = (t.o * s.x[conv_fixed::kh] + t.ky) * s.x[conv_fixed::kw] + t.kx;
        return t.own ? s.a[tap * s.x[conv_fixed::CI] + at.col] : 0.f;
    }
};
/// dw [KH][KW][CI][CO]; a = the same in cuDNN's order, with the margin.
template <>
struct source<from_filter_gradient> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int CI = s.x[conv_fixed::CI], KW = s.x[conv_fixed::kw];
        const std::int64_t ci = at.row % CI, kx = at.row / CI % KW + s.e[filter_extent::first_column],
                           ky = at.row / CI / KW + s.e[filter_extent::first_row];
        return s.a[((at.col * s.e[filter_extent::rows] + ky) * s.e[filter_extent::columns] + kx) * CI + ci];
    }
};

} // namespace sinter::gpu
