// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/image.hpp>

#include <png.h>

/// PNG through libpng's simplified interface.
namespace sinter::inline SINTER_ORDINARY::io {

/// The largest picture that is decoded: 64 Mi pixels, 256 MiB as floats. A few kilobytes can ask
/// for that much.
inline constexpr std::uint64_t most_png_pixels = std::uint64_t{1} << 26;

namespace detail {

/// The parts of a PNG that its picture depends on, with every length held against the bytes that
/// are there: libpng would make room for what a chunk promises, and unpack comments that nobody
/// reads. Throws format_error where a chunk is longer than the file, or where the pixels promised
/// are more than the compressed bytes can hold.
inline std::vector<std::byte> needed_chunks(span<const std::byte> bytes, std::string_view name) {
    constexpr std::size_t signature = 8, frame = 12;   // each chunk: length, type, data, checksum
    constexpr std::string_view needed = "IHDR PLTE tRNS gAMA cHRM sRGB sBIT IDAT IEND";
    const auto number = [&](std::size_t at) {
        std::uint32_t n = 0;
        for (std::size_t i = 0; i < 4; ++i) n = n << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
        return n;
    };
    std::vector<std::byte> out(bytes.begin(), bytes.begin() + std::min(bytes.size(), signature));
    std::uint64_t promised = 0, compressed = 0;
    for (std::size_t at = signature; at + frame <= bytes.size();) {
        const std::uint64_t length = number(at), left = bytes.size() - at - frame;
        const std::string_view type(reinterpret_cast<const char*>(bytes.data() + at + 4), 4);
        if (length > left)
            throw format_error("PNG is damaged or cut short", to_text({name, ", byte ", at}),
                               to_text({"a chunk of ", length, " bytes"}),
                               to_text({"at most the ", left, " that are left"}));
        if (type == "IHDR" && length >= 10) {
            constexpr std::uint64_t channels[] = {1, 1, 3, 1, 2, 1, 4, 1};
            const std::uint64_t bits =
                channels[bytes[at + 17] >= std::byte{8} ? 1 : std::to_integer<std::size_t>(bytes[at + 17])] *
                std::to_integer<std::uint64_t>(bytes[at + 16]);
            const std::uint64_t pixels = std::uint64_t{number(at + 8)} * number(at + 12);
            promised = pixels <= most_png_pixels ? pixels * bits / 8 : 0;   // more of them are refused by their number
        }
        if (type == "IDAT") compressed += length;
        if (needed.find(type) != std::string_view::npos)
            out.insert(out.end(), bytes.begin() + at, bytes.begin() + at + frame + length);
        at += frame + static_cast<std::size_t>(length);
        if (type == "IEND") break;
    }
    constexpr std::uint64_t greatest_ratio = 1032;   // of deflate: 258 bytes for 2 bits (zlib's technical notes)
    if (promised > (compressed + 1) * greatest_ratio)
        throw format_error("PNG is damaged or cut short", name, to_text({compressed, " compressed bytes"}),
                           to_text({"enough for ", promised}));
    return out;
}

} // namespace detail

/// Reads one PNG from memory, of any colour type and depth, as grey: colours become their
/// luminance, transparent parts lie on black, 16 bits are reduced to 8. Throws format_error with
/// libpng's words where the bytes are no valid PNG, where it has more than most_png_pixels, and
/// where a length in it is beyond what the file holds. That is checked before any memory is asked
/// for. Colour profiles (iCCP) are not applied.
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
    const std::vector<std::byte> chunks = detail::needed_chunks(bytes, name);
    if (png_image_begin_read_from_memory(&image, chunks.data(), chunks.size()) == 0)
        refuse("not a PNG that can be read");
    const std::uint64_t pixels = std::uint64_t{image.width} * image.height;
    if (pixels > most_png_pixels)
        throw format_error("PNG is too large", std::string(name),
                           std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels",
                           "at most " + std::to_string(most_png_pixels) + " pixels");
    image.format = PNG_FORMAT_GRAY;
    // Otherwise libpng takes 16-bit samples without a gamma chunk for linear light and brightens
    // them.
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
