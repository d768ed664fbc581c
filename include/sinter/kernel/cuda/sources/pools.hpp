// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/max_pool.hpp>

/// Pools over images [H][W][C]. Padding never wins.
namespace sinter::inline SINTER_TARGET::gpu {

/// One axis: the elements of window o that exist, and the windows that hold element i; both [first,
/// last).
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

/// Windows (oy, ox) of the image and elements (y, x) in them.
struct pooling {
    const int* x;
    SINTER_HOST_DEVICE pool_window rows(int o) const {
        return pool_window::elements(o, x[pool_fixed::H], x[pool_fixed::kh], x[pool_fixed::v_stride],
                                     x[pool_fixed::above]);
    }
    SINTER_HOST_DEVICE pool_window columns(int o) const {
        return pool_window::elements(o, x[pool_fixed::W], x[pool_fixed::kw], x[pool_fixed::h_stride],
                                     x[pool_fixed::left]);
    }
    SINTER_HOST_DEVICE int place(int y, int i, int oy, int ox) const {
        return (y - oy * x[pool_fixed::v_stride] + x[pool_fixed::above]) * x[pool_fixed::kw] + i -
               ox * x[pool_fixed::h_stride] + x[pool_fixed::left];
    }
    /// By how many elements the mean of a window divides.
    SINTER_HOST_DEVICE float count(int oy, int ox) const {
        if (x[pool_fixed::divisor] == whole_window) return static_cast<float>(x[pool_fixed::kh] * x[pool_fixed::kw]);
        if (x[pool_fixed::divisor] == 0) return static_cast<float>(rows(oy).count() * columns(ox).count());
        const int below = (x[pool_fixed::divisor] - 1) >> padding_below,
                  right = (x[pool_fixed::divisor] - 1) % (1 << padding_below);
        return static_cast<float>(
            within(oy * x[pool_fixed::v_stride] - x[pool_fixed::above], x[pool_fixed::kh], x[pool_fixed::H] + below) *
            within(ox * x[pool_fixed::h_stride] - x[pool_fixed::left], x[pool_fixed::kw], x[pool_fixed::W] + right));
    }
    static SINTER_HOST_DEVICE int within(int from, int k, int end) { return (from + k < end ? from + k : end) - from; }
};

template <bool Max>
struct pool_forward : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*, const int* x) {
        return {m * x[pool_fixed::OH] * x[pool_fixed::OW], x[pool_fixed::C]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int* x = s.x;
        const pooling pool{x};
        const pool_place o(at.row, x[pool_fixed::OH], x[pool_fixed::OW]);
        const auto v = pool.rows(o.y), h = pool.columns(o.x);
        const float* image =
            s.a + o.image * (std::int64_t{x[pool_fixed::H]} * x[pool_fixed::W] * x[pool_fixed::C]) + at.col;
        float best = image[(v.first * x[pool_fixed::W] + h.first) * x[pool_fixed::C]], sum = 0.f;
        int where = pool.place(v.first, h.first, o.y, o.x);
        for (int y = v.first; y < v.last; ++y)
            for (int i = h.first; i < h.last; ++i) {
                const float e = image[(y * x[pool_fixed::W] + i) * x[pool_fixed::C]];
                sum += e;
                if (e > best || e != e) {
                    best = e;
                    where = pool.place(y, i, o.y, o.x);
                }
            }
        if constexpr (!Max) return sum / pool.count(o.y, o.x);
        if (s.out) reinterpret_cast<std::uint8_t*>(s.out)[at.off] = static_cast<std::uint8_t>(where);
        return best;
    }
};
/// a = images, out = winners as bytes (their place in the window, the first of equal ones, the last
/// NaN) or null.
template <>
struct source<static_cast<int>(op::max_pool.id)> : pool_forward<true> {
    static constexpr bool second_result = true;
};
template <>
struct source<static_cast<int>(op::avg_pool.id)> : pool_forward<false> {};

/// a = images, b = winners: the elements at their places.
template <>
struct source<static_cast<int>(op::max_pool_winners.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*, const int* x) {
        return {m * x[pool_fixed::OH] * x[pool_fixed::OW], x[pool_fixed::C]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int *x = s.x, winner = reinterpret_cast<const std::uint8_t*>(s.b)[at.off];
        const pool_place o(at.row, x[pool_fixed::OH], x[pool_fixed::OW]);
        const int y = o.y * x[pool_fixed::v_stride] - x[pool_fixed::above] + winner / x[pool_fixed::kw],
                  i = o.x * x[pool_fixed::h_stride] - x[pool_fixed::left] + winner % x[pool_fixed::kw];
        return s.a[((o.image * x[pool_fixed::H] + y) * x[pool_fixed::W] + i) * x[pool_fixed::C] + at.col];
    }
};

template <bool Max>
struct pool_backward : plain_source {
    static constexpr int operands = Max ? 2 : 1;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*, const int* x) {
        return {m * x[pool_fixed::H] * x[pool_fixed::W], x[pool_fixed::C]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const int *x = s.x, OH = x[pool_fixed::OH], OW = x[pool_fixed::OW];
        const pooling pool{x};
        const pool_place e(at.row, x[pool_fixed::H], x[pool_fixed::W]);
        const auto v = pool_window::windows(e.y, OH, x[pool_fixed::kh], x[pool_fixed::v_stride], x[pool_fixed::above]),
                   h = pool_window::windows(e.x, OW, x[pool_fixed::kw], x[pool_fixed::h_stride], x[pool_fixed::left]);
        const std::int64_t image = e.image * (std::int64_t{OH} * OW * x[pool_fixed::C]) + at.col;
        float sum = 0.f;
        for (int oy = v.first; oy < v.last; ++oy)
            for (int ox = h.first; ox < h.last; ++ox) {
                const std::int64_t o = image + (oy * OW + ox) * x[pool_fixed::C];
                if constexpr (Max) {
                    if (reinterpret_cast<const std::uint8_t*>(s.b)[o] == pool.place(e.y, e.x, oy, ox)) sum += s.a[o];
                } else {
                    sum += s.a[o] / pool.count(oy, ox);
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
