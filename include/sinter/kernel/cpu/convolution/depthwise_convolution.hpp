// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/convolution/convolution.hpp>

/// Convolutions of as many groups as channels, in vectors of channels: element by element there is nothing to share, so
/// nothing is unfolded. Operands and bodies as in convolution.hpp; weights [taps][C].
namespace sinter::cpu {

/// f(first channel, how many, are they a whole vector?) over C channels.
template <class F>
SINTER_INLINE void each_channel_vector(int channels, F f) {
    int j = 0;
    for (; j + lanes <= channels; j += lanes) f(j, lanes, std::true_type{});
    if (j < channels) f(j, channels - j, std::false_type{});
}
template <bool Full>
SINTER_INLINE vf channels_at(const float* p, int n) {
    if constexpr (Full) return load(p);
    else return load(p, n);
}
template <class Body, bool Full>
SINTER_INLINE void emit_channels(vf v, int n, std::int64_t pixel, int j, int channels, const call& c) {
    if constexpr (Full) Body::vector(v, pixel * channels + j, pixel, j, c);
    else Body::vector(v, n, pixel * channels + j, pixel, j, c);
}

template <class Body>
struct depthwise_convolution {
    /// `Tile` neighbouring places, all of whose taps [kx] lie inside: each weight is loaded once for them.
    template <int Tile, bool Full>
    static SINTER_INLINE void places(const convolution_extents& x, const float* image, const taps_inside& tz, const taps_inside& ty,
                                     int ox, int j, int n, std::int64_t pixel, const call& c) {
        const sliding &z = x.axis[0], &y = x.axis[1], &h = x.axis[2];
        const taps_inside tx(h, ox);
        const int C = x.inputs;
        vf sum[Tile];
        for (vf& s : sum) s = zero();
        for (int kz = tz.first; kz < tz.last; ++kz)
            for (int ky = ty.first; ky < ty.last; ++ky) {
                const std::int64_t row = std::int64_t{tz.from + kz * z.dilation} * y.extent + ty.from + ky * y.dilation;
                const float* from = image + (row * h.extent + tx.from) * C + j;
                const float* w = c.p[1] + std::int64_t{(kz * y.k + ky) * h.k} * C + j;
                for (int kx = tx.first; kx < tx.last; ++kx) {
                    const vf weight = channels_at<Full>(w + kx * C, n);
                    for (int i = 0; i < Tile; ++i)
                        sum[i] = fma(channels_at<Full>(from + (kx * h.dilation + i * h.stride) * C, n), weight, sum[i]);
                }
            }
        for (int i = 0; i < Tile; ++i) emit_channels<Body, Full>(sum[i], n, pixel + i, j, C, c);
    }
    static void run(const call& c) {
        const convolution_extents x(c.e);
        const sliding &z = x.axis[0], &y = x.axis[1], &h = x.axis[2];
        const std::int64_t rows = c.m / h.out, end = share(rows, c.part + 1, c.parts);
        // places whose taps are all inside: [low, high)
        const int low = std::min(h.out, (h.before + h.stride - 1) / h.stride), room = h.extent + h.before - h.reach();
        const int high = std::max(low, room < 0 ? 0 : std::min(h.out, room / h.stride + 1));
        for (std::int64_t r = share(rows, c.part, c.parts); r < end; ++r) {
            const taps_inside tz(z, static_cast<int>(r / y.out % z.out)), ty(y, static_cast<int>(r % y.out));
            const float* image = c.p[0] + r / y.out / z.out * x.in_pixels() * x.inputs;
            each_channel_vector(x.inputs, [&](int j, int n, auto full) SINTER_ALWAYS {
                for (int ox = 0; ox < h.out;) {
                    if (ox >= low && ox + 4 <= high) {
                        places<4, full>(x, image, tz, ty, ox, j, n, r * h.out + ox, c);
                        ox += 4;
                    } else {
                        places<1, full>(x, image, tz, ty, ox, j, n, r * h.out + ox, c);
                        ++ox;
                    }
                }
            });
        }
    }
};

/// Through tap k, input i is seen from place (i + before - k * dilation) / stride, if that is whole and there; else -1.
SINTER_INLINE int place_of(const sliding& a, int i, int k) {
    const int at = i + a.before - k * a.dilation, place = at / a.stride;
    return at < 0 || at != place * a.stride || place >= a.out ? -1 : place;
}

template <class Body>
struct depthwise_input_gradient {
    template <bool Full>
    static SINTER_INLINE void pixel(const convolution_extents& x, const float* dy, int iz, int iy, int ix, int j, int n, std::int64_t at,
                                    const call& c) {
        const sliding &z = x.axis[0], &y = x.axis[1], &h = x.axis[2];
        const int C = x.inputs;
        vf sum = zero();
        for (int kz = 0; kz < z.k; ++kz) {
            const int oz = place_of(z, iz, kz);
            if (oz < 0) continue;
            for (int ky = 0; ky < y.k; ++ky) {
                const int oy = place_of(y, iy, ky);
                if (oy < 0) continue;
                const float* d = dy + (std::int64_t{oz} * y.out + oy) * h.out * C + j;
                const float* w = c.p[1] + std::int64_t{(kz * y.k + ky) * h.k} * C + j;
                for (int kx = 0; kx < h.k; ++kx) {
                    const int ox = place_of(h, ix, kx);
                    if (ox >= 0) sum = fma(channels_at<Full>(d + ox * C, n), channels_at<Full>(w + kx * C, n), sum);
                }
            }
        }
        emit_channels<Body, Full>(sum, n, at, j, C, c);
    }
    static void run(const call& c) {
        const convolution_extents x(c.e);
        const sliding &z = x.axis[0], &y = x.axis[1], &h = x.axis[2];
        const std::int64_t rows = c.m / h.extent, end = share(rows, c.part + 1, c.parts);
        for (std::int64_t r = share(rows, c.part, c.parts); r < end; ++r) {
            const int iz = static_cast<int>(r / y.extent % z.extent), iy = static_cast<int>(r % y.extent);
            const float* dy = c.p[0] + r / y.extent / z.extent * x.out_pixels() * x.inputs;
            each_channel_vector(x.inputs, [&](int j, int n, auto full) SINTER_ALWAYS {
                for (int ix = 0; ix < h.extent; ++ix) pixel<full>(x, dy, iz, iy, ix, j, n, r * h.extent + ix, c);
            });
        }
    }
};

template <class Body>
struct depthwise_weight_gradient {
    using sums = weight_sums<Body>;
    static constexpr int phases = 2;
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * sums::floats(convolution_extents(e));
    }
    static void run(const call& c) {
        const convolution_extents x(c.e);
        const sliding &z = x.axis[0], &y = x.axis[1], &h = x.axis[2];
        const int C = x.inputs;
        float* const sum = c.scratch + c.part * sums::floats(x);
        std::fill_n(sum, sums::floats(x), 0.f);
        const std::int64_t rows = std::int64_t{c.m} * z.out * y.out, end = share(rows, c.part + 1, c.parts);
        for (std::int64_t r = share(rows, c.part, c.parts); r < end; ++r) {
            const taps_inside tz(z, static_cast<int>(r / y.out % z.out)), ty(y, static_cast<int>(r % y.out));
            const float* image = c.p[0] + r / y.out / z.out * x.in_pixels() * C;
            const float* dy = c.p[1] + r * h.out * C;
            for (int kz = tz.first; kz < tz.last; ++kz)
                for (int ky = ty.first; ky < ty.last; ++ky) {
                    const std::int64_t row = std::int64_t{tz.from + kz * z.dilation} * y.extent + ty.from + ky * y.dilation;
                    for (int kx = 0; kx < h.k; ++kx)
                        tap(x, image + row * h.extent * C, dy, kx, sum + std::int64_t{(kz * y.k + ky) * h.k + kx} * C);
                }
        }
    }
    /// sum[channels] += dy times x, over the places of a row from which tap kx lies inside.
    static void tap(const convolution_extents& x, const float* row, const float* dy, int kx, float* sum) {
        const sliding& h = x.axis[2];
        const int C = x.inputs, shift = kx * h.dilation - h.before, room = h.extent - 1 - shift;
        const int low = shift < 0 ? (-shift + h.stride - 1) / h.stride : 0;
        const int high = room < 0 ? 0 : std::min(h.out, room / h.stride + 1);
        each_channel_vector(C, [&](int j, int n, auto full) SINTER_ALWAYS {
            vf s = channels_at<full>(sum + j, n);
            for (int ox = low; ox < high; ++ox)
                s = fma(channels_at<full>(row + std::int64_t{ox * h.stride + shift} * C + j, n), channels_at<full>(dy + ox * C + j, n), s);
            if constexpr (full) store(sum + j, s);
            else store(sum + j, s, n);
        });
    }
    static void finish(const call& c) { sums::finish(c); }
};

template <class Body, int... X>
struct nest<op::convolution, Body, 1, X...> { using type = depthwise_convolution<Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 1, X...> { using type = depthwise_input_gradient<Body>; };
template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 1, X...> { using type = depthwise_weight_gradient<Body>; };

} // namespace sinter::cpu
