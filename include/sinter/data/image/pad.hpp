// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#if SINTER_BODIES
#include <cstring>
#endif

namespace sinter::inline SINTER_ORDINARY::data::image {

/// Pixels that are put around a picture.
struct margins {
    std::size_t top = 0, left = 0, bottom = 0, right = 0;
};

/// All of `in` with margins of one colour around it, into `out`, another picture than `in`. data_error for an empty
/// picture.
SINTER_SELDOM void pad(const bitmap_view& in, const margins& around, const pixel& fill, bitmap& out);

/// Fills `n` pixels with one colour.
inline void fill_pixels(std::uint8_t* to, std::size_t n, std::size_t channels, const pixel& fill) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < channels; ++c) *to++ = fill.channel[c];
}

#if SINTER_BODIES
SINTER_SELDOM_BODY void pad(const bitmap_view& in, const margins& around, const pixel& fill, bitmap& out) {
    need_picture(in, "pad");
    const std::size_t width = around.left + in.width + around.right, channels = in.channels;
    out.reshape(around.top + in.height + around.bottom, width, channels);
    std::uint8_t* to = out.bytes.data();
    const auto put = [&](std::size_t n) {
        fill_pixels(to, n, channels, fill);
        to += n * channels;
    };
    put(around.top * width);
    for (std::size_t y = 0; y < in.height; ++y) {
        put(around.left);
        std::memcpy(to, in.row(y), in.row_bytes());
        to += in.row_bytes();
        put(around.right);
    }
    put(around.bottom * width);
}
#endif

} // namespace sinter::data::image
