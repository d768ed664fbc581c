// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <sinter/data/image/channels.hpp>
#if SINTER_BODIES
#include <algorithm>
#include <cmath>
#endif

/// Brightness, contrast, saturation and hue, in place, as torchvision's functions of these names define them for bytes:
/// results are cut off to whole numbers, not rounded. Pictures have one channel or three; for others, and for empty
/// ones, data_error. Factors are finite and not below 0, else option_error; 1 changes nothing. Grey is torchvision's
/// here, (2989 R + 5870 G + 1140 B) / 10000 cut off, which is not quite that of to_grey.
namespace sinter::inline SINTER_ORDINARY::data::image {

/// Each byte times `factor`; 0 gives black.
SINTER_SELDOM void adjust_brightness(bitmap& picture, double factor);

/// factor * byte + (1 - factor) * mean, the mean that of all pixels' grey; 0 gives that grey everywhere.
SINTER_SELDOM void adjust_contrast(bitmap& picture, double factor);

/// factor * byte + (1 - factor) * grey, each pixel's own; 0 gives a grey picture. Grey pictures stay.
SINTER_SELDOM void adjust_saturation(bitmap& picture, double factor);

/// Adds `shift` to the hue, in turns of the colour circle; -0.5 to 0.5, else option_error. Grey pictures stay.
SINTER_SELDOM void adjust_hue(bitmap& picture, double shift);

#if SINTER_BODIES
namespace detail {
SINTER_SELDOM void need_colours(const bitmap& picture, const char* where) {
    need_picture(picture, where);
    if (picture.channels != 1 && picture.channels != 3)
        throw data_error("not a picture of these channels", where, to_text({picture.channels, " channels"}), "1 or 3");
}
SINTER_SELDOM void need_factor(double factor, const char* where) {
    if (!(factor >= 0 && factor <= 1e9)) throw option_error("factor that cannot be used", where, {}, "0 or more");
}

inline std::uint8_t cut_off(float v) { return static_cast<std::uint8_t>(std::clamp(v, 0.0f, 255.0f)); }
/// a * x + b * y as two products and a sum of floats, each rounded: a processor that fuses them gives the same.
inline float blend(float a, float x, float b, float y) {
    const auto left = static_cast<float>(static_cast<double>(a) * static_cast<double>(x)),
               right = static_cast<float>(static_cast<double>(b) * static_cast<double>(y));
    return left + right;
}
inline std::uint32_t grey_of(const std::uint8_t* rgb) {
    return (2989u * rgb[0] + 5870u * rgb[1] + 1140u * rgb[2]) / 10000;
}

/// Each byte becomes what blend makes of it and of `other`.
inline void blend_all(bitmap& picture, double factor, float other) {
    std::uint8_t becomes[256];
    for (int byte = 0; byte < 256; ++byte)
        becomes[byte] = cut_off(blend(static_cast<float>(factor), static_cast<float>(byte),
                                      static_cast<float>(1 - factor), other));
    for (std::uint8_t& byte : picture.bytes) byte = becomes[byte];
}

/// One pixel: to hue, saturation and value, and back.
inline void turn_hue(std::uint8_t* rgb, double shift) {
    const double red = rgb[0] / 255.0, green = rgb[1] / 255.0, blue = rgb[2] / 255.0;
    const double most = std::max({red, green, blue}), least = std::min({red, green, blue}), range = most - least;
    if (range == 0) return;
    double hue = 0;   // in sixths of a turn
    if (most == red) hue = (green - blue) / range;
    else if (most == green) hue = 2 + (blue - red) / range;
    else hue = 4 + (red - green) / range;
    hue = hue / 6 + 1 + shift;
    hue = (hue - std::floor(hue)) * 6;
    const double saturation = range / most, whole = std::floor(hue), part = hue - whole;
    const double low = most * (1 - saturation), falling = most * (1 - saturation * part),
                 rising = most * (1 - saturation * (1 - part));
    const auto set = [&](double r, double g, double b) {
        const auto byte = [](double v) { return static_cast<std::uint8_t>(std::clamp(v, 0.0, 1.0) * (256 - 1e-3)); };
        rgb[0] = byte(r), rgb[1] = byte(g), rgb[2] = byte(b);
    };
    switch (static_cast<int>(whole) % 6) {
    case 0: return set(most, rising, low);
    case 1: return set(falling, most, low);
    case 2: return set(low, most, rising);
    case 3: return set(low, falling, most);
    case 4: return set(rising, low, most);
    default: return set(most, low, falling);
    }
}
} // namespace detail

SINTER_SELDOM_BODY void adjust_brightness(bitmap& picture, double factor) {
    detail::need_colours(picture, "adjust_brightness");
    detail::need_factor(factor, "adjust_brightness");
    detail::blend_all(picture, factor, 0);
}

SINTER_SELDOM_BODY void adjust_contrast(bitmap& picture, double factor) {
    detail::need_colours(picture, "adjust_contrast");
    detail::need_factor(factor, "adjust_contrast");
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < picture.bytes.size(); i += picture.channels)
        sum += picture.channels == 1 ? picture.bytes[i] : detail::grey_of(picture.bytes.data() + i);
    const double mean = static_cast<double>(sum) / static_cast<double>(picture.height * picture.width);
    detail::blend_all(picture, factor, static_cast<float>(mean));
}

SINTER_SELDOM_BODY void adjust_saturation(bitmap& picture, double factor) {
    detail::need_colours(picture, "adjust_saturation");
    detail::need_factor(factor, "adjust_saturation");
    if (picture.channels == 1) return;
    const auto own = static_cast<float>(factor), other = static_cast<float>(1 - factor);
    for (std::size_t i = 0; i < picture.bytes.size(); i += 3) {
        std::uint8_t* const p = picture.bytes.data() + i;
        const auto grey = static_cast<float>(detail::grey_of(p));
        for (std::size_t c = 0; c < 3; ++c)
            p[c] = detail::cut_off(detail::blend(own, static_cast<float>(p[c]), other, grey));
    }
}

SINTER_SELDOM_BODY void adjust_hue(bitmap& picture, double shift) {
    detail::need_colours(picture, "adjust_hue");
    if (!(shift >= -0.5 && shift <= 0.5))
        throw option_error("shift that cannot be used", "adjust_hue", {}, "-0.5 to 0.5");
    if (picture.channels == 1 || shift == 0) return;
    for (std::size_t i = 0; i < picture.bytes.size(); i += 3) detail::turn_hue(picture.bytes.data() + i, shift);
}
#endif

} // namespace sinter::data::image
