// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstring>
#include <sinter/ops/convolution.hpp>

/// Between images and the matrices whose rows are windows of images: with them a convolution is a product.
namespace sinter::cpu {

/// The taps of a window on one axis that lie on the image: [first, last), the window's first element at `from`.
struct taps_inside {
    int from, first, last;
    taps_inside(const sliding& a, int place) : from(place * a.stride - a.before) {
        first = from < 0 ? (-from + a.dilation - 1) / a.dilation : 0;
        if (first > a.k) first = a.k;
        last = a.extent > from ? (a.extent - from + a.dilation - 1) / a.dilation : 0;
        last = std::clamp(last, first, a.k);
    }
};

/// f(tap, offset in x, n): all stretches of n taps of window `pixel` (numbered through all images) that lie on the image,
/// n > 1 where taps are neighbours in memory; tap * group_inputs() is their place in the window's row.
template <class F>
inline void each_stretch(const convolution_extents& c, std::int64_t pixel, F f) {
    const sliding &z = c.axis[0], &y = c.axis[1], &x = c.axis[2];
    const std::int64_t image = pixel / c.out_pixels(), at = pixel % c.out_pixels();
    const taps_inside tz(z, static_cast<int>(at / x.out / y.out)), ty(y, static_cast<int>(at / x.out % y.out)),
        tx(x, static_cast<int>(at % x.out));
    const bool together = x.dilation == 1 && c.groups == 1;
    for (int kz = tz.first; kz < tz.last; ++kz)
        for (int ky = ty.first; ky < ty.last; ++ky) {
            const std::int64_t row = (image * z.extent + tz.from + kz * z.dilation) * y.extent + ty.from + ky * y.dilation;
            for (int kx = tx.first; kx < tx.last; kx += together ? tx.last - tx.first : 1)
                f((kz * y.k + ky) * x.k + kx, (row * x.extent + tx.from + kx * x.dilation) * c.inputs,
                  together ? tx.last - tx.first : 1);
        }
}

/// to [last - first][taps][group_inputs]: what windows [first, last) see of a group's channels, zeros in the padding.
inline void unfold(const convolution_extents& c, const float* x, std::int64_t first, std::int64_t last, int group, float* to) {
    const int inputs = c.group_inputs(), depth = c.depth();
    for (std::int64_t p = first; p < last; ++p, to += depth) {
        int filled = 0;   // taps that are written already
        each_stretch(c, p, [&](int tap, std::int64_t from, int n) {
            std::fill_n(to + filled * inputs, (tap - filled) * inputs, 0.f);
            std::memcpy(to + tap * inputs, x + from + group * inputs, 4 * static_cast<std::size_t>(n * inputs));
            filled = tap + n;
        });
        std::fill_n(to + filled * inputs, depth - filled * inputs, 0.f);
    }
}

/// The other way: adds windows [first, last) to the images that they were cut from. x: where image 0 would begin.
inline void fold(const convolution_extents& c, const float* from, std::int64_t first, std::int64_t last, int group, float* x) {
    const int inputs = c.group_inputs(), depth = c.depth();
    for (std::int64_t p = first; p < last; ++p, from += depth)
        each_stretch(c, p, [&](int tap, std::int64_t at, int n) {
            float* to = x + at + group * inputs;
            const float* add = from + tap * inputs;
            for (int i = 0; i < n * inputs; ++i) to[i] += add[i];
        });
}

} // namespace sinter::cpu
