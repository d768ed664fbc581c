// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/image.hpp>

#include <png.h>

/// PNG through libpng's simplified interface.
namespace sinter::inline SINTER_TARGET::io {

/// The largest picture that is decoded: 64 Mi pixels, 256 MiB as floats. A few kilobytes can ask for that much.
inline constexpr std::uint64_t most_png_pixels = std::uint64_t{1} << 26;

/// Reads one PNG from memory, of any colour type and depth, as grey: colours become their luminance, transparent parts
/// lie on black, 16 bits are reduced to 8. Throws format_error with libpng's words where the bytes are no valid PNG,
/// and where it has more than most_png_pixels.
inline grey_image parse_png(span<const std::byte> bytes, std::string_view name) {
    struct image_guard {
        png_image image{};
        ~image_guard() { png_image_free(&image); }
    } guard;
    png_image& image = guard.image;
    image.version = PNG_IMAGE_VERSION;
    const auto refuse = [&](const char* what) {
        throw format_error(what, std::string(name), image.message, "a valid PNG");
    };
    if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) refuse("not a PNG that can be read");
    const std::uint64_t pixels = std::uint64_t{image.width} * image.height;
    if (pixels > most_png_pixels)
        throw format_error("PNG is too large", std::string(name),
                           std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels",
                           "at most " + std::to_string(most_png_pixels) + " pixels");
    image.format = PNG_FORMAT_GRAY;
    // Otherwise libpng takes 16-bit samples without a gamma chunk for linear light and brightens them.
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    std::vector<png_byte> samples(PNG_IMAGE_SIZE(image));
    const png_color black{0, 0, 0};
    if (png_image_finish_read(&image, &black, samples.data(), 0, nullptr) == 0) refuse("PNG is damaged or cut short");
    grey_image out{image.width, image.height, std::vector<float>(samples.size())};
    for (std::size_t i = 0; i < samples.size(); ++i) out.pixels[i] = static_cast<float>(samples[i]) / 255.0f;
    return out;
}

/// Reads the PNG file at `path`; throws io_error where it cannot be read, and as parse_png does.
inline grey_image read_png(const std::string& path) { return parse_png(read_whole_file(path), path); }

} // namespace sinter::io
