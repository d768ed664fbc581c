// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <cstddef>
#include <cstdint>
#if SINTER_BODIES
#include <algorithm>
#include <cmath>
#include <vector>
#endif

/// What a resized picture's pixels are made of, along one axis.
namespace sinter::inline SINTER_ORDINARY::data::image {

/// How a resized pixel is made of those around its place: by a triangle, or by the cubic of Keys 1981 with a = -0.5.
enum class interpolation : std::uint8_t { bilinear, bicubic };

#if SINTER_BODIES
namespace detail {

/// Of which places, and how much of each, each place of an axis is made.
struct resize_axis {
    std::size_t taps = 0;                 ///< of each place; even, for two are multiplied at once
    std::size_t at_once = 1;              ///< places that are made at once: 1 or 2
    std::vector<std::size_t> first;       ///< the first tap of each place; they never fall
    /// [places / at_once][taps / 2][2][at_once][8]: the weights of two taps, four times; once divided by 2^8, and then
    /// what remains. Each of both fits into 16 bits, of which processors multiply many at once.
    std::vector<std::int16_t> weights;
    const std::int16_t* of(std::size_t place) const { return weights.data() + place * taps * 8; }   ///< at_once is 1
};
constexpr int resize_bits = 22, resize_low_bits = 8;   // sums of weights times bytes keep within 31 bits

inline double filter_at(interpolation filter, double x) {
    x = std::abs(x);
    if (filter == interpolation::bilinear) return x < 1 ? 1 - x : 0;
    constexpr double a = -0.5;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// Weights as Pillow has them. A tap that a place has not got has weight 0.
SINTER_SELDOM resize_axis make_resize_axis(std::size_t from, std::size_t to, interpolation filter,
                                           std::size_t at_once) {
    const double scale = static_cast<double>(from) / static_cast<double>(to), wider = std::max(scale, 1.0);
    const double support = (filter == interpolation::bilinear ? 1 : 2) * wider, narrower = 1 / wider;
    resize_axis axis;
    axis.at_once = at_once;
    axis.first.resize(to);
    std::vector<double> all;             // weights, one place behind the other
    std::vector<std::size_t> ends(to);   // in `all`
    for (std::size_t i = 0; i < to; ++i) {
        const double center = (static_cast<double>(i) + 0.5) * scale;
        const auto begin = static_cast<std::size_t>(std::max(center - support + 0.5, 0.0));
        const auto end = std::min(static_cast<std::size_t>(center + support + 0.5), from);
        const std::size_t at = all.size();
        double sum = 0;
        for (std::size_t p = begin; p < end; ++p) {
            all.push_back(filter_at(filter, (static_cast<double>(p) - center + 0.5) * narrower));
            sum += all.back();
        }
        for (std::size_t k = at; k < all.size(); ++k)
            if (sum != 0) all[k] /= sum;
        axis.first[i] = begin;
        ends[i] = all.size();
        axis.taps = std::max(axis.taps, end - begin);
    }
    axis.taps += axis.taps % 2;
    axis.weights.resize((to + to % at_once) * axis.taps * 8);
    for (std::size_t i = 0, at = 0; i < to; at = ends[i++]) {
        // No tap lies behind the end, if there are as many places: others come first, with weight 0.
        const std::size_t first = std::min(axis.first[i], from - std::min(from, axis.taps));
        for (std::size_t k = at; k < ends[i]; ++k) {
            const std::size_t tap = axis.first[i] - first + (k - at);
            const double scaled = all[k] * (1 << resize_bits);
            const auto weight = static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
            std::int16_t* const to_pair = axis.weights.data() + i / at_once * at_once * axis.taps * 8 +
                (tap / 2 * 2 * at_once + i % at_once) * 8 + tap % 2;
            for (std::size_t c = 0; c < 8; c += 2) {
                to_pair[c] = static_cast<std::int16_t>(weight >> resize_low_bits);
                to_pair[at_once * 8 + c] = static_cast<std::int16_t>(weight & ((1 << resize_low_bits) - 1));
            }
        }
        axis.first[i] = first;
    }
    return axis;
}

/// Bytes behind a row that may be read, or written.
constexpr std::size_t resize_room = 32;

} // namespace detail
#endif

} // namespace sinter::data::image
