// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>

/// Pools over images [H][W][C], x = {H, W, C, OH, OW, K, stride, rows above, columns left}. Padding never wins and is not
/// counted.
namespace sinter::gpu {

/// One axis: the elements of window o that exist, and the windows that hold element i; both [first, last).
struct pool_window {
    int first, last;
    static SINTER_HOST_DEVICE pool_window elements(int o, int extent, int k, int stride, int before) {
        const int from = o * stride - before;
        return {from < 0 ? 0 : from, from + k < extent ? from + k : extent};
    }
    static SINTER_HOST_DEVICE pool_window windows(int i, int out, int k, int stride, int before) {
        const int past = i + before - k, end = (i + before) / stride + 1;
        return {past < 0 ? 0 : past / stride + 1, end < out ? end : out};
    }
    SINTER_HOST_DEVICE int count() const { return last > first ? last - first : 0; }
};

struct pool_place {   ///< of a row of a walk over [Rows][Columns] pixels
    int y, x;
    std::int64_t image;
    SINTER_HOST_DEVICE pool_place(std::int64_t row, int rows, int columns)
        : y(static_cast<int>(row / columns % rows)), x(static_cast<int>(row % columns)), image(row / columns / rows) {}
};

template <bool Max>
struct pool_forward : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int *x = s.x, K = x[5];
        const pool_place o(at.row, x[3], x[4]);
        const auto v = pool_window::elements(o.y, x[0], K, x[6], x[7]), h = pool_window::elements(o.x, x[1], K, x[6], x[8]);
        const float* image = s.a + o.image * (std::int64_t{x[0]} * x[1] * x[2]) + at.col;
        float best = image[(v.first * x[1] + h.first) * x[2]], sum = 0.f;
        int where = (v.first - o.y * x[6] + x[7]) * K + h.first - o.x * x[6] + x[8];
        for (int y = v.first; y < v.last; ++y)
            for (int i = h.first; i < h.last; ++i) {
                const float e = image[(y * x[1] + i) * x[2]];
                sum += e;
                if (e > best) {
                    best = e;
                    where = (y - o.y * x[6] + x[7]) * K + i - o.x * x[6] + x[8];
                }
            }
        if constexpr (!Max) return sum / static_cast<float>(v.count() * h.count());
        if (s.out) reinterpret_cast<std::uint8_t*>(s.out)[at.off] = static_cast<std::uint8_t>(where);
        return best;
    }
};
/// a = images, out = winners as bytes (their place in the window, the first of equal ones) or null.
template <>
struct source<static_cast<int>(op::max_pool.id)> : pool_forward<true> {};
template <>
struct source<static_cast<int>(op::avg_pool.id)> : pool_forward<false> {};

template <bool Max>
struct pool_backward : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int *x = s.x, OH = x[3], OW = x[4], K = x[5], S = x[6];
        const pool_place e(at.row, x[0], x[1]);
        const auto v = pool_window::windows(e.y, OH, K, S, x[7]), h = pool_window::windows(e.x, OW, K, S, x[8]);
        const std::int64_t image = e.image * (std::int64_t{OH} * OW * x[2]) + at.col;
        float sum = 0.f;
        for (int oy = v.first; oy < v.last; ++oy)
            for (int ox = h.first; ox < h.last; ++ox) {
                const std::int64_t o = image + (oy * OW + ox) * x[2];
                if constexpr (Max) {
                    const int here = (e.y + x[7] - oy * S) * K + e.x + x[8] - ox * S;
                    if (reinterpret_cast<const std::uint8_t*>(s.b)[o] == here) sum += s.a[o];
                } else {
                    const auto ey = pool_window::elements(oy, x[0], K, S, x[7]), ex = pool_window::elements(ox, x[1], K, S, x[8]);
                    sum += s.a[o] / static_cast<float>(ey.count() * ex.count());
                }
            }
        return sum;
    }
};
/// a = gradient of the pooled values, b = winners.
template <>
struct source<static_cast<int>(op::max_pool_gradient.id)> : pool_backward<true> {};
template <>
struct source<static_cast<int>(op::avg_pool_gradient.id)> : pool_backward<false> {};

} // namespace sinter::gpu
