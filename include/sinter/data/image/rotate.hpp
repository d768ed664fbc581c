// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#if SINTER_BODIES
#include <cmath>
#endif

namespace sinter::inline SINTER_ORDINARY::data::image {

/// `in` turned about its middle by so many degrees, counterclockwise, into `out`, another picture than `in`, of
/// the same extents. A pixel is made of the four around the place that it comes from, bilinearly; around the picture
/// all is `fill`. This is torchvision's rotate with bilinear interpolation, whose floats round otherwise: a byte may
/// differ by 1. (With a fill, torchvision darkens the pixels on the edge: it takes their share of the picture twice.)
/// Places are whole numbers of 2^-32 pixels, so that all processors give the same bytes. data_error for
/// an empty picture or one of more than 2^16 pixels a side, option_error for degrees that are not finite.
SINTER_SELDOM void rotate(const bitmap_view& in, double degrees, const pixel& fill, bitmap& out);

#if SINTER_BODIES
SINTER_SELDOM_BODY void rotate(const bitmap_view& in, double degrees, const pixel& fill, bitmap& out) {
    need_picture(in, "rotate");
    constexpr std::size_t most_side = std::size_t{1} << 16;   // so that places fit into 64 bits
    if (in.height > most_side || in.width > most_side)
        throw data_error("picture is too large", "rotate", to_text({in.height, " x ", in.width}),
                         to_text({"at most ", most_side, " a side"}));
    if (!std::isfinite(degrees)) throw option_error("angle that is no number", "rotate", {}, "degrees");
    const double angle = std::fmod(degrees, 360) * (3.14159265358979323846 / 180);
    // Half a pixel is the unit of what these multiply: middles of pixels are whole numbers then.
    const auto cosine = static_cast<std::int64_t>(std::llround(std::ldexp(std::cos(angle), 31))),
               sine = static_cast<std::int64_t>(std::llround(std::ldexp(std::sin(angle), 31)));
    const auto height = static_cast<std::int64_t>(in.height), width = static_cast<std::int64_t>(in.width);
    const std::size_t channels = in.channels;
    out.reshape(in.height, in.width, channels);
    constexpr int share_bits = 11;   // of a pixel, for weights: two of them and a byte keep within 31 bits
    constexpr std::int64_t half = std::int64_t{1} << 31, half_share = std::int64_t{1} << (31 - share_bits);
    const auto share_of = [](std::int64_t place) {
        return static_cast<std::int32_t>(place >> (32 - share_bits)) & ((1 << share_bits) - 1);
    };
    std::uint8_t* to = out.bytes.data();
    for (std::int64_t y = 0; y < height; ++y) {
        const std::int64_t from_middle = 2 * y + 1 - height;
        std::int64_t across = (1 - width) * cosine - from_middle * sine + (width - 1) * half + half_share,
                     down = (1 - width) * sine + from_middle * cosine + (height - 1) * half + half_share;
        for (std::int64_t x = 0; x < width; ++x, across += 2 * cosine, down += 2 * sine, to += channels) {
            const std::int64_t left = across >> 32, top = down >> 32;
            const std::int32_t right_share = share_of(across), left_share = (1 << share_bits) - right_share;
            const std::int32_t low_share = share_of(down), high_share = (1 << share_bits) - low_share;
            const auto at = [&](std::int64_t row, std::int64_t column) {
                const bool inside = row >= 0 && row < height && column >= 0 && column < width;
                return inside ? in.row(static_cast<std::size_t>(row)) + static_cast<std::size_t>(column) * channels
                              : fill.channel;
            };
            const std::uint8_t *a = at(top, left), *b = at(top, left + 1), *c = at(top + 1, left),
                               *d = at(top + 1, left + 1);
            for (std::size_t k = 0; k < channels; ++k) {
                const std::int32_t sum = high_share * (left_share * a[k] + right_share * b[k]) +
                    low_share * (left_share * c[k] + right_share * d[k]);
                to[k] = static_cast<std::uint8_t>((sum + (1 << (2 * share_bits - 1))) >> (2 * share_bits));
            }
        }
    }
}
#endif

} // namespace sinter::data::image
