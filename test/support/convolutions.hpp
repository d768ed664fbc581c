// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/max_pool.hpp>

#include "support/check_op.hpp"

namespace sinter::test {

/// How many places a window has on an axis, and what lies before the first, by counting.
struct counted_axis {
    int out = 0, before = 0;
    counted_axis(int extent, int k, const window& o, int axis) {
        const int stride = o.stride.d[axis], reach = (k - 1) * o.dilation.d[axis] + 1;
        if (o.padding == padding::same) {
            while (out * stride < extent) ++out;
            before = std::max(0, (out - 1) * stride + reach - extent) / 2;
            return;
        }
        int after = 0;
        if (o.padding == padding::causal) before = reach - 1;
        else if (o.padding != padding::valid) before = o.padding.before[axis], after = o.padding.after[axis];
        while (out * stride + reach <= before + extent + after) ++out;
        const bool left_over = (out - 1) * stride + reach < before + extent + after;
        if (o.rounding == rounding::ceil && left_over && out * stride < before + extent) ++out;   // begins on something
    }
};
/// f(output place, input place, tap) for all windows of k[0] x k[1] x k[2] over x [n, d, h, w, c]
/// that lie on the image; places are of pixels, numbered through. Returns the extents [d, h, w] of
/// the result.
template <class F>
std::vector<int> each_window(const doubles& x, const std::vector<int>& k, const window& o, F f) {
    std::vector<int> out, before;
    for (int a = 0; a < 3; ++a) {
        const counted_axis axis(x.d[a + 1], k[a], o, a);
        out.push_back(axis.out);
        before.push_back(axis.before);
    }
    for (int p = 0; p < x.d[0] * out[0] * out[1] * out[2]; ++p)
        for (int tap = 0; tap < k[0] * k[1] * k[2]; ++tap) {
            const int place[3] = {p / out[2] / out[1] % out[0], p / out[2] % out[1], p % out[2]};
            const int t[3] = {tap / k[2] / k[1], tap / k[2] % k[1], tap % k[2]};
            int from = p / out[2] / out[1] / out[0];
            bool inside = true;
            for (int a = 0; a < 3; ++a) {
                const int at = place[a] * o.stride.d[a] - before[a] + t[a] * o.dilation.d[a];
                inside = inside && at >= 0 && at < x.d[a + 1];
                from = from * x.d[a + 1] + at;
            }
            if (inside) f(p, from, tap);
        }
    return out;
}
/// [n, ..., c] with axes of 1 until there are three between: a row as an image, an image as a volume.
inline doubles as_volume(doubles x) {
    while (x.rank() < 5) x.d.insert(x.d.begin() + 1, 1);
    return x;
}
/// The window of a row or an image does not move along the axes that as_volume adds.
inline window of_axes(window o, int axes) {
    for (int a = 0; a < 3 - axes; ++a)
        o.stride.d[a] = o.dilation.d[a] = 1, o.padding.before[a] = o.padding.after[a] = 0;
    return o;
}

/// x [n, ..., ci], w [..., ci / groups, co] over one to three axes.
inline doubles convolution(const doubles& image, const doubles& w, window o) {
    const int axes = image.rank() - 2, ci = image.d.back(), co = w.d.back(), gi = ci / o.groups, go = co / o.groups;
    const doubles x = as_volume(image);
    std::vector<int> k(w.d.begin(), w.d.end() - 2);
    while (k.size() < 3) k.insert(k.begin(), 1);
    o = of_axes(o, axes);
    std::vector<int> d = each_window(x, k, o, [](int, int, int) {});
    d.insert(d.begin(), x.d[0]);
    d.push_back(co);
    doubles y(d);
    each_window(x, k, o, [&](int to, int from, int tap) {
        for (int j = 0; j < co; ++j)
            for (int i = 0; i < gi; ++i) y[to * co + j] += x[from * ci + j / go * gi + i] * w[(tap * gi + i) * co + j];
    });
    y.d.erase(y.d.begin() + 1, y.d.begin() + 1 + (3 - axes));
    return y;
}
/// Windows of k x l over images x [n, h, w, c].
template <class F>
std::vector<int> each_window(const doubles& x, int k, int l, window o, F f) {
    return each_window(as_volume(x), {1, k, l}, of_axes(o, 2), f);
}
/// Pools over one to three axes: f(result, element) for all elements of a window that exist.
template <class F>
doubles pooled(const doubles& image, per_axis k, window o, double start, F f) {
    const int axes = image.rank() - 2, c = image.d.back();
    const doubles x = as_volume(image);
    std::vector<int> size(k.d, k.d + 3);
    for (int a = 0; a < 3 - axes; ++a) size[a] = 1;
    o = of_axes(o, axes);
    std::vector<int> d = each_window(x, size, o, [](int, int, int) {});
    d.insert(d.begin(), x.d[0]);
    d.push_back(c);
    doubles y(d, start);
    each_window(x, size, o, [&](int to, int from, int) {
        for (int j = 0; j < c; ++j) f(y[to * c + j], x[from * c + j]);
    });
    y.d.erase(y.d.begin() + 1, y.d.begin() + 1 + (3 - axes));
    return y;
}
inline doubles max_pooled(const doubles& x, per_axis k, window o) {
    return pooled(x, k, o, -INFINITY, [](double& y, double v) { y = std::max(y, v); });
}
inline doubles mean_pooled(const doubles& x, per_axis k, window o) {
    const doubles n = pooled(x, k, o, 0, [](double& y, double) { ++y; });
    return map(pooled(x, k, o, 0, [](double& y, double v) { y += v; }), n, [](double a, double b) { return a / b; });
}
/// A window on an image, drawn: images of every second number are one pixel high or wide, windows
/// may be larger than the image where there is padding, and what strides leave over is nothing
/// special.
struct drawn_window {
    int h, w, k, l, channels, results;
    constexpr drawn_window(int number, window o, const char* test = __builtin_FILE()) {
        shape_source r(number, test);
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
