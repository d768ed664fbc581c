// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/graph/shape.hpp>

/// Windows that slide over the axes of an image (or a row, or a volume): what convolutions and
/// pools share.
namespace sinter::inline SINTER_TARGET {

/// One number for each axis that a window slides over, the last three of [depth, height, width]:
/// one number for all axes, or one each. `window{.stride = 2}`, `window{.stride = {2, 1}}`.
struct per_axis {
    int d[3] = {1, 1, 1};
    constexpr per_axis(int all) : d{all, all, all} {}
    constexpr per_axis(int height, int width) : d{1, height, width} {}
    constexpr per_axis(int depth, int height, int width) : d{depth, height, width} {}
    constexpr per_axis(const int (&all)[3])
        : d{all[0], all[1], all[2]} {}   // as nvcc writes it down for its host compiler
    constexpr bool operator==(const per_axis&) const = default;
    constexpr bool square() const { return d[1] == d[2]; }
    constexpr int least() const { return d[0] < d[1] ? d[0] < d[2] ? d[0] : d[2] : d[1] < d[2] ? d[1] : d[2]; }
};

/// Zeros around an image. `same`: as many as it takes for ceil(extent / stride) places, split
/// evenly, the odd one behind (TensorFlow's rule); `valid`: none; `causal`: all in front, so that
/// no place sees what comes after it (one axis only). Or numbers: padding(1) on all sides,
/// padding(before, after) on each axis, padding(top, bottom, left, right), and padding(front, back,
/// top, bottom, left, right) of volumes.
struct padding {
    enum class rule : std::uint8_t { same, valid, causal, given };
    rule how = rule::given;
    int before[3] = {}, after[3] = {};

    static const padding same, valid, causal;
    constexpr explicit padding(rule r) : how(r) {}
    constexpr padding(rule r, const int (&b)[3], const int (&a)[3])   // as nvcc writes it down for its host compiler
        : how(r), before{b[0], b[1], b[2]}, after{a[0], a[1], a[2]} {}
    constexpr padding(int all) : padding(all, all) {}
    constexpr padding(int b, int a) : before{b, b, b}, after{a, a, a} {}
    constexpr padding(int top, int bottom, int left, int right) : before{0, top, left}, after{0, bottom, right} {}
    constexpr padding(int front, int back, int top, int bottom, int left, int right)
        : before{front, top, left}, after{back, bottom, right} {}
    constexpr bool operator==(const padding&) const = default;
};
inline constexpr padding padding::same{padding::rule::same}, padding::valid{padding::rule::valid},
    padding::causal{padding::rule::causal};

/// Of a pool's places where a stride leaves something over: dropped, or one more window that hangs
/// over the edge (if it begins on the image or its padding in front: PyTorch's ceil_mode).
enum class rounding : std::uint8_t { floor, ceil };

/// How a window slides. Convolutions know dilation (the distance of neighbouring taps) and groups,
/// pools know the rest.
struct window {
    per_axis stride = 1;
    sinter::padding padding = sinter::padding::same;
    per_axis dilation = 1;
    int groups = 1;
    sinter::rounding rounding = sinter::rounding::floor;
    bool count_padding = false;   ///< avg_pool: a mean counts the padding's zeros (PyTorch's count_include_pad)
    constexpr bool operator==(const window&) const = default;
};

/// One axis under a sliding window: `out` places, place o begins at o * stride - before, its taps
/// lie `dilation` apart.
struct sliding {
    int extent = 1, out = 1, k = 1, stride = 1, dilation = 1, before = 0;

    constexpr sliding() = default;
    /// `axis`: 0 depth, 1 height, 2 width. Where the window does not fit, `out` is below 1.
    constexpr sliding(int extent_, int k_, const window& o, int axis)
        : extent(extent_), k(k_), stride(o.stride.d[axis]), dilation(o.dilation.d[axis]) {
        std::int64_t all = extent, places = 0;   // of any extents: what is too much is told of by the ops
        const std::int64_t taps = (std::int64_t{k} - 1) * dilation + 1;
        switch (o.padding.how) {
            case padding::rule::same: {
                out = static_cast<int>((all + stride - 1) / stride);
                const std::int64_t total = (std::int64_t{out} - 1) * stride + taps - extent;
                before = total > 0 ? within(total / 2) : 0;
                return;
            }
            case padding::rule::valid: break;
            case padding::rule::causal: all += before = within(taps - 1); break;
            case padding::rule::given:
                before = o.padding.before[axis];
                all += std::int64_t{before} + o.padding.after[axis];
        }
        places = all < taps ? 0 : (all - taps) / stride + 1;
        if (o.rounding == rounding::ceil && places > 0 && (all - taps) % stride &&
            places * stride < std::int64_t{extent} + before)
            ++places;
        out = within(places);
    }
    constexpr int reach() const { return (k - 1) * dilation + 1; }   ///< from the first tap to the last

    // As two numbers, in which launches carry it (kernels that know their extents at run time).
    constexpr std::int64_t places() const { return std::int64_t{extent} << 32 | out; }
    constexpr std::int64_t steps() const {
        return std::int64_t{k} << 48 | std::int64_t{stride} << 32 | std::int64_t{dilation} << 16 | before;
    }
    constexpr sliding(std::int64_t places, std::int64_t steps)
        : extent(static_cast<int>(places >> 32)), out(static_cast<int>(places & 0xffffffff)), k(field(steps, 48)),
          stride(field(steps, 32)), dilation(field(steps, 16)), before(field(steps, 0)) {}
    static constexpr int most = 0xffff;   ///< of each field

private:
    static constexpr int within(std::int64_t n) { return n < 0x7fffffff ? static_cast<int>(n) : 0x7fffffff; }
    static constexpr int field(std::int64_t all, int at) { return static_cast<int>(all >> at & most); }
};

/// In spec::extents of pools.
namespace pool_fixed { enum : int { H, W, C, OH, OW, kh, kw, v_stride, h_stride, above, left, divisor }; }
/// In node::p of pools: vertical and horizontal strides, padding.
namespace pool_attribute { enum : int { kh, kw, v_stride, h_stride, above, left, divisor }; }

} // namespace sinter
