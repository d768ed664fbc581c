// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#if SINTER_BODIES
#include <algorithm>
#include <cmath>
#include <cstring>
#endif

/// Parts of pictures. Where a part is random, its place is drawn by itself, from the random_stream that a pipeline has
/// for each example (its key is of seed, pass and place in it: data/transform/map.hpp), so that it is the same on any
/// thread and after a restart.
namespace sinter::inline SINTER_ORDINARY::data::image {

/// A part of a picture, in pixels.
struct window {
    std::size_t top = 0, left = 0, height = 0, width = 0;
};

/// The pixels of the window, into `out`, another picture than `in`. data_error where it is empty or not all in `in`.
SINTER_SELDOM void crop(const bitmap_view& in, const window& part, bitmap& out);

/// The window of height x width in the middle of `in`; what is odd is left over below and on the right. data_error
/// where it is larger than `in`.
SINTER_SELDOM window center_window(const bitmap_view& in, std::size_t height, std::size_t width);

/// A window of height x width anywhere in `in`, each place as likely. Draws its top, then its left. data_error where it
/// is larger than `in`.
SINTER_SELDOM window random_window(const bitmap_view& in, std::size_t height, std::size_t width,
                                   random_stream& random);

/// A window of random size and shape, as nets for photographs are trained on: its share of the area is uniform within
/// [least_share, most_share], the logarithm of width / height uniform within those of [narrowest, widest]. Where ten
/// such do not fit, it is the largest in the middle whose shape is within. torchvision's RandomResizedCrop, after
/// Szegedy et al., "Going deeper with convolutions", 2015. option_error where bounds are not in order, or not above 0.
SINTER_SELDOM window random_resized_window(const bitmap_view& in, random_stream& random, double least_share = 0.08,
                                           double most_share = 1, double narrowest = 3.0 / 4,
                                           double widest = 4.0 / 3);

/// The part in the middle: crop at center_window.
inline bitmap center_crop(const bitmap_view& in, std::size_t height, std::size_t width) {
    bitmap out;
    crop(in, center_window(in, height, width), out);
    return out;
}

#if SINTER_BODIES
namespace detail {
SINTER_SELDOM void need_room(const bitmap_view& in, std::size_t height, std::size_t width, const char* where) {
    need_picture(in, where);
    if (height == 0 || width == 0 || height > in.height || width > in.width)
        throw data_error("the window is empty, or larger than the picture", where, to_text({height, " x ", width}),
                         to_text({"1 x 1 to ", in.height, " x ", in.width}));
}
} // namespace detail

SINTER_SELDOM_BODY void crop(const bitmap_view& in, const window& part, bitmap& out) {
    detail::need_room(in, part.height, part.width, "crop");
    if (part.top > in.height - part.height || part.left > in.width - part.width)
        throw data_error("the window is not in the picture", "crop", to_text({"from ", part.top, ", ", part.left}),
                         to_text({"at most ", in.height - part.height, ", ", in.width - part.width}));
    out.reshape(part.height, part.width, in.channels);
    const std::size_t size = part.width * in.channels;
    for (std::size_t y = 0; y < part.height; ++y)
        std::memcpy(out.bytes.data() + y * size, in.row(part.top + y) + part.left * in.channels, size);
}

SINTER_SELDOM_BODY window center_window(const bitmap_view& in, std::size_t height, std::size_t width) {
    detail::need_room(in, height, width, "center_window");
    return {(in.height - height) / 2, (in.width - width) / 2, height, width};
}

SINTER_SELDOM_BODY window random_window(const bitmap_view& in, std::size_t height, std::size_t width,
                                        random_stream& random) {
    detail::need_room(in, height, width, "random_window");
    const std::size_t top = random.below(static_cast<std::uint32_t>(in.height - height + 1));
    return {top, random.below(static_cast<std::uint32_t>(in.width - width + 1)), height, width};
}

SINTER_SELDOM_BODY window random_resized_window(const bitmap_view& in, random_stream& random, double least_share,
                                                double most_share, double narrowest, double widest) {
    need_picture(in, "random_resized_window");
    if (!(least_share > 0 && least_share <= most_share && most_share <= 1 && narrowest > 0 && narrowest <= widest &&
          widest < 1e9))
        throw option_error("bounds that cannot be used", "random_resized_window", {},
                           "shares in order, above 0 and at most 1; ratios in order, above 0");
    const double all_height = static_cast<double>(in.height), all_width = static_cast<double>(in.width);
    const auto between = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random.uniform());
    };
    for (int attempt = 0; attempt < 10; ++attempt) {
        const double area = all_height * all_width * between(least_share, most_share);
        const double ratio = std::exp(between(std::log(narrowest), std::log(widest)));
        const double height = std::nearbyint(std::sqrt(area / ratio)), width = std::nearbyint(std::sqrt(area * ratio));
        if (height >= 1 && width >= 1 && height <= all_height && width <= all_width)
            return random_window(in, static_cast<std::size_t>(height), static_cast<std::size_t>(width), random);
    }
    double height = all_height, width = all_width;
    if (width / height < narrowest) height = std::min(all_height, std::max(1.0, std::nearbyint(width / narrowest)));
    else if (width / height > widest) width = std::min(all_width, std::max(1.0, std::nearbyint(height * widest)));
    return center_window(in, static_cast<std::size_t>(height), static_cast<std::size_t>(width));
}
#endif

} // namespace sinter::data::image
