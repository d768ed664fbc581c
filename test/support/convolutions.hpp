// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/avg_pool.hpp>

#include "support/check_op.hpp"

namespace sinter::test {

/// f(output place, channel, input place, place in the window) for all windows of k x l over x [n, h, w, c] that lie on
/// the image; places are of pixels, numbered through.
template <class F>
std::vector<int> each_window(const doubles& x, int k, int l, window o, F f) {
    const int h = x.d[1], w = x.d[2];
    int out[2], before[2];
    for (int a = 0; a < 2; ++a) {
        const int extent = a ? w : h, size = a ? l : k;
        if (o.padding == padding::valid) {
            out[a] = (extent - size + o.stride) / o.stride;
            before[a] = 0;
        } else {
            out[a] = (extent + o.stride - 1) / o.stride;
            before[a] = std::max(0, (out[a] - 1) * o.stride + size - extent) / 2;
        }
    }
    for (int n = 0; n < x.d[0]; ++n)
        for (int oy = 0; oy < out[0]; ++oy)
            for (int ox = 0; ox < out[1]; ++ox)
                for (int ky = 0; ky < k; ++ky)
                    for (int kx = 0; kx < l; ++kx) {
                        const int y = oy * o.stride - before[0] + ky, i = ox * o.stride - before[1] + kx;
                        if (y < 0 || i < 0 || y >= h || i >= w) continue;
                        f((n * out[0] + oy) * out[1] + ox, (n * h + y) * w + i, ky * l + kx);
                    }
    return {out[0], out[1]};
}

inline doubles convolution(const doubles& x, const doubles& w, window o) {
    const int k = w.d[0], l = w.d[1], ci = w.d[2], co = w.d[3];
    const auto out = each_window(x, k, l, o, [](int, int, int) {});
    doubles y({x.d[0], out[0], out[1], co});
    each_window(x, k, l, o, [&](int to, int from, int tap) {
        for (int i = 0; i < ci; ++i)
            for (int j = 0; j < co; ++j) y[to * co + j] += x[from * ci + i] * w[(tap * ci + i) * co + j];
    });
    return y;
}
inline doubles max_pooled(const doubles& x, int k, window o) {
    const auto out = each_window(x, k, k, o, [](int, int, int) {});
    const int c = x.d[3];
    doubles y({x.d[0], out[0], out[1], c}, -INFINITY);
    each_window(x, k, k, o, [&](int to, int from, int) {
        for (int j = 0; j < c; ++j) y[to * c + j] = std::max(y[to * c + j], x[from * c + j]);
    });
    return y;
}
inline doubles mean_pooled(const doubles& x, int k, window o) {
    const auto out = each_window(x, k, k, o, [](int, int, int) {});
    const int c = x.d[3];
    doubles y({x.d[0], out[0], out[1], c}), n(y.d);
    each_window(x, k, k, o, [&](int to, int from, int) {
        for (int j = 0; j < c; ++j) y[to * c + j] += x[from * c + j], ++n[to * c + j];
    });
    return map(y, n, [](double a, double b) { return a / b; });
}
/// A window on an image, drawn: images of every second number are one pixel high or wide, windows may be larger than the
/// image where there is padding, and what strides leave over is nothing special.
struct drawn_window {
    int h, w, k, l, channels, results;
    constexpr drawn_window(int number, window o) {
        shape_source r(number);
        h = number % 2 ? 1 : r.one_of({2, 3, 4, 5, 7});
        w = r.one_of({2, 3, 4, 5, 7});
        if (r.below(2)) { const int t = h; h = w; w = t; }
        k = r.one_of({1, 2, 3});
        l = r.one_of({1, 2, 3});
        if (o.padding == padding::valid && k > h) k = h;
        if (o.padding == padding::valid && l > w) l = w;
        channels = r.one_of({1, 1, 2, 3, 5});
        results = r.columns(17);
    }
    constexpr shape image() const { return batch_of(h, w, channels); }
    constexpr shape weights() const { return extents(k, l, channels, results); }
    constexpr int square() const { return k < l ? k : l; }
};
inline constexpr window valid{1, padding::valid}, by_two{2, padding::same}, by_two_valid{2, padding::valid};

} // namespace sinter::test
