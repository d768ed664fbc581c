// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/crop.hpp>
#include <sinter/data/image/pad.hpp>
#if SINTER_BODIES
#include <algorithm>
#endif

/// Cutout: a square of a picture that is hidden. Source: DeVries, Taylor, "Improved regularization of convolutional
/// neural networks with cutout", arXiv 1708.04552.
namespace sinter::inline SINTER_ORDINARY::data::image {

/// A square of `side` pixels whose middle is any pixel of the picture, each as likely; what of it lies outside is cut
/// off, so that what is left may be small. Draws the middle's row, then its column. data_error for an empty picture,
/// option_error where the side is 0.
SINTER_SELDOM window cutout_window(const bitmap_view& in, std::size_t side, random_stream& random);

/// Fills the window of a picture with one colour, in place. data_error where it is not all in the picture.
SINTER_SELDOM void cutout(bitmap& picture, const window& part, const pixel& fill = {});

#if SINTER_BODIES
SINTER_SELDOM_BODY window cutout_window(const bitmap_view& in, std::size_t side, random_stream& random) {
    need_picture(in, "cutout_window");
    if (side == 0) throw option_error("side that cannot be used", "cutout_window", "0", "at least 1");
    const auto along = [&](std::size_t length, std::size_t& first, std::size_t& size) {
        const std::size_t middle = random.below(static_cast<std::uint32_t>(length)), before = side / 2;
        first = middle - std::min(middle, before);
        size = middle + std::min(side - before, length - middle) - first;
    };
    window part;
    along(in.height, part.top, part.height);
    along(in.width, part.left, part.width);
    return part;
}

SINTER_SELDOM_BODY void cutout(bitmap& picture, const window& part, const pixel& fill) {
    need_picture(picture, "cutout");
    if (part.height > picture.height || part.width > picture.width || part.top > picture.height - part.height ||
        part.left > picture.width - part.width)
        throw data_error("the window is not in the picture", "cutout",
                         to_text({part.height, " x ", part.width, " from ", part.top, ", ", part.left}),
                         to_text({"a part of ", picture.height, " x ", picture.width}));
    for (std::size_t y = part.top; y < part.top + part.height; ++y)
        fill_pixels(picture.bytes.data() + (y * picture.width + part.left) * picture.channels, part.width,
                    picture.channels, fill);
}
#endif

} // namespace sinter::data::image
