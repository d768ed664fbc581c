// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#if SINTER_BODIES
#include <algorithm>
#endif

/// Mirrored pictures, in place. Whether one is mirrored is drawn as data::random_flip does: not where
/// `random.word() & 1`.
namespace sinter::inline SINTER_ORDINARY::data::image {

/// Left becomes right. data_error for an empty picture.
SINTER_SELDOM void flip_horizontal(bitmap& picture);

/// The top becomes the bottom. data_error for an empty picture.
SINTER_SELDOM void flip_vertical(bitmap& picture);

#if SINTER_BODIES
namespace detail {
template <std::size_t Channels>
void mirror_row(std::uint8_t* row, std::size_t width) {
    struct one { std::uint8_t channel[Channels]; };   // of bytes alone: lies as pixels do
    one* const first = reinterpret_cast<one*>(row);
    std::reverse(first, first + width);
}
} // namespace detail

SINTER_SELDOM_BODY void flip_horizontal(bitmap& picture) {
    need_picture(picture, "flip_horizontal");
    const std::size_t width = picture.width, channels = picture.channels;
    for (std::size_t y = 0; y < picture.height; ++y) {
        std::uint8_t* const row = picture.bytes.data() + y * width * channels;
        if (channels == 1) detail::mirror_row<1>(row, width);
        else if (channels == 2) detail::mirror_row<2>(row, width);
        else if (channels == 3) detail::mirror_row<3>(row, width);
        else detail::mirror_row<4>(row, width);
    }
}

SINTER_SELDOM_BODY void flip_vertical(bitmap& picture) {
    need_picture(picture, "flip_vertical");
    const std::size_t size = picture.width * picture.channels;
    std::uint8_t *upper = picture.bytes.data(), *lower = upper + (picture.height - 1) * size;
    for (; upper < lower; upper += size, lower -= size) std::swap_ranges(upper, upper + size, lower);
}
#endif

} // namespace sinter::data::image
