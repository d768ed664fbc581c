// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/decode/bitmap.hpp>

namespace sinter::inline SINTER_ORDINARY::data::image {

/// Throws data_error where the picture is empty or has more than four channels; `where` is the function's name.
SINTER_SELDOM void need_picture(const bitmap_view& picture, std::string_view where);

/// Makes a picture grey, in place: luma by ITU-R 601-2, (19595 R + 38470 G + 7471 B + 2^15) / 2^16, which is what
/// Pillow's convert("L") gives, to the last bit. Alpha is dropped, whatever it says. data_error for an empty picture.
SINTER_SELDOM void to_grey(bitmap& picture);

/// Gives a picture three channels, in place: grey becomes three equal ones. Alpha is dropped, as Pillow's
/// convert("RGB") does: what is transparent has the colour that the file says. data_error for an empty picture.
SINTER_SELDOM void to_rgb(bitmap& picture);

#if SINTER_BODIES
SINTER_SELDOM_BODY void need_picture(const bitmap_view& picture, std::string_view where) {
    if (picture.height == 0 || picture.width == 0 || picture.channels == 0 || picture.channels > 4)
        throw data_error("this is no picture", where,
                         to_text({picture.height, " x ", picture.width, ", ", picture.channels, " channels"}),
                         "at least one pixel, of one to four channels");
}

SINTER_SELDOM_BODY void to_grey(bitmap& picture) {
    need_picture(picture, "to_grey");
    const std::size_t n = picture.height * picture.width, step = picture.channels;
    std::uint8_t* const to = picture.bytes.data();
    const std::uint8_t* from = to;   // never behind what is written
    if (step >= 3) {
        for (std::size_t i = 0; i < n; ++i, from += step) {
            const std::uint32_t red = from[0], green = from[1], blue = from[2];
            to[i] = static_cast<std::uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
        }
    } else if (step == 2) {
        for (std::size_t i = 0; i < n; ++i) to[i] = from[2 * i];
    }
    picture.reshape(picture.height, picture.width, 1);
}

SINTER_SELDOM_BODY void to_rgb(bitmap& picture) {
    need_picture(picture, "to_rgb");
    const std::size_t n = picture.height * picture.width, had = picture.channels;
    if (had == 3) return;
    if (had < 3) picture.bytes.resize(3 * n);
    std::uint8_t* const bytes = picture.bytes.data();
    if (had == 4) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < 3; ++c) bytes[3 * i + c] = bytes[4 * i + c];
    } else {
        for (std::size_t i = n; i-- > 0;) {   // from the end: the picture grows
            const std::uint8_t grey = bytes[had * i];
            for (std::size_t c = 0; c < 3; ++c) bytes[3 * i + c] = grey;
        }
    }
    picture.reshape(picture.height, picture.width, 3);
}
#endif

} // namespace sinter::data::image
