// SPDX-License-Identifier: BSL-1.0
// shows files: lengths in a file are checked before memory is taken
// needs: png
#define BOOST_TEST_MODULE io_images
#include "error_parts.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/read_image.hpp>
#include <span>

using namespace std::string_literals;
using sinter::format_error;
using sinter::io::grey_image;

namespace {
grey_image pgm(std::string_view text) { return sinter::io::parse_pgm(std::as_bytes(std::span(text)), "mem.pgm"); }
grey_image png(std::span<const std::byte> bytes) { return sinter::io::parse_png(bytes, "mem.png"); }

void refused(std::string_view text, std::string_view fault, std::string_view where, std::string_view got = {},
             std::string_view needed = {}) {
    check_error<format_error>([&] { pgm(text); }, fault, where, got, needed);
}

/// Encodes `samples` through libpng itself.
std::vector<std::byte> encode_png(png_uint_32 width, png_uint_32 height, png_uint_32 format, const void* samples) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = format;
    png_alloc_size_t size = 0;
    png_image_write_to_memory(&image, nullptr, &size, 0, samples, 0, nullptr);
    std::vector<std::byte> bytes(size);
    png_image_write_to_memory(&image, bytes.data(), &size, 0, samples, 0, nullptr);
    bytes.resize(size);
    return bytes;
}
} // namespace

BOOST_AUTO_TEST_CASE(pgm_golden) {
    for (const std::string& text :
         {"P5 3 2 255\n\0\x33\x66\x99\xcc\xff"s, "P2\n# a comment\n3 # width\n2\r\n255\n0 51 102\n153 204 255\n"s,
          "P5#c\n3\t2\v65535\n\0\0\x33\x33\x66\x66\x99\x99\xcc\xcc\xff\xff"s}) {
        const grey_image image = pgm(text);
        BOOST_TEST(image.width == 3u);
        BOOST_TEST(image.height == 2u);
        for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(image.pixels.at(i) == static_cast<float>(i) / 5.0f);
    }
    BOOST_TEST(pgm("P2 1 1 7 3").pixels.at(0) == 3.0f / 7.0f);
    BOOST_TEST(pgm("P5 1 1 1000 \x03\xe8").pixels.at(0) == 1.0f);
}

BOOST_AUTO_TEST_CASE(pgm_refusals) {
    refused("", "not a PGM", "mem.pgm, bytes 0 and 1", "''", "P2 or P5");
    refused("P6 1 1 255 abc", "not a PGM", "mem.pgm", "'P6'", "P2 or P5");
    refused("P5", "no usable width", "mem.pgm, byte 2", "the end of the file", "a number from 1");
    refused("P5 0 1 255 ", "no usable width", "mem.pgm, byte 3", "'0 1 255 '", "a number from 1");
    refused("P5 1 -1 255 x", "no usable height", "mem.pgm, byte 5", "'-1 255 x'");
    refused("P5 1 1 0 x", "no usable maximum", "mem.pgm, byte 7");
    refused("P5 1 1 65536 x", "no usable maximum", "mem.pgm, byte 7", "", "from 1 to 65535");
    refused("P5 1 1 255", "header does not end", "mem.pgm, byte 10", "the end of the file");
    refused("P5 1 1 255#x", "header does not end", "mem.pgm, byte 10", "'#x'");
    refused("P5 99999999999999999999999 1 255 x", "no usable width", "mem.pgm, byte 3");
    refused("P5 2147483647 2147483647 65535 x", "cut short", "mem.pgm, from byte 31", "1 bytes", "9223372028264841218");
    refused("P5 2 2 255 abc", "cut short", "mem.pgm", "3 bytes", "4 for 2 x 2");
    refused("P5 2 2 255 abcde", "bytes follow", "mem.pgm", "5 bytes", "4 for 2 x 2");
    refused("P5 1 1 9 \x0a", "over the maximum", "mem.pgm, byte 9", "10", "at most 9");
    refused("P2 2 2 255 1 2 3", "cut short", "mem.pgm", "6 bytes", "7 for 2 x 2");
    refused("P2 2 2 255 1 2 3333", "no usable sample", "mem.pgm", "'3333'", "from 0 to 255");
    refused("P2 2 2 255 1 2    ", "no usable sample", "mem.pgm", "the end of the file");
    refused("P2 1 1 255 1 2", "bytes follow", "mem.pgm, byte 13", "1 bytes", "none");
    refused("P2 1 1 255 x", "no usable sample", "mem.pgm, byte 11", "'x'");
}

BOOST_AUTO_TEST_CASE(png_grey_is_exact) {
    const png_byte grey[6] = {0, 51, 102, 153, 204, 255};
    const grey_image image = png(encode_png(3, 2, PNG_FORMAT_GRAY, grey));
    BOOST_TEST(image.width == 3u);
    BOOST_TEST(image.height == 2u);
    for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(image.pixels.at(i) == static_cast<float>(i) / 5.0f);
}

BOOST_AUTO_TEST_CASE(png_colour_and_transparency_become_grey) {
    const png_byte pixels[16] = {255, 255, 255, 255, 128, 128, 128, 255, 255, 255, 255, 0, 0, 255, 0, 255};
    const grey_image image = png(encode_png(4, 1, PNG_FORMAT_RGBA, pixels));
    BOOST_TEST(image.pixels.at(0) == 1.0f);
    BOOST_TEST(image.pixels.at(1) == 128.0f / 255.0f, boost::test_tools::tolerance(0.01f));
    BOOST_TEST(image.pixels.at(2) == 0.0f, "transparent lies on black");
    BOOST_TEST(image.pixels.at(3) > 0.7f, "green is bright");
    BOOST_TEST(image.pixels.at(3) < 1.0f);
}

BOOST_AUTO_TEST_CASE(png_refusals) {
    const png_byte grey[64]{};
    const std::vector<std::byte> whole = encode_png(8, 8, PNG_FORMAT_GRAY, grey);
    const auto refused_png = [](std::span<const std::byte> bytes, std::string_view fault) {
        check_error<format_error>([&] { png(bytes); }, fault, "mem.png");
    };
    refused_png({}, "not a PNG");
    refused_png(std::as_bytes(std::span("GIF89a")), "not a PNG");
    for (std::size_t n = 1; n < whole.size() - 12; ++n) // the end chunk alone may be missing
        BOOST_CHECK_THROW(png(std::span(whole).first(n)), format_error);
    std::vector<std::byte> damaged = whole;
    damaged[damaged.size() - 20] ^= std::byte{1}; // in the pixels' checksum
    refused_png(damaged, "damaged");
    // 10^6 x 10^6 black pixels, each row a bit string: the header alone, with its right checksum.
    const std::string huge = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x0f\x42\x40\0\x0f\x42\x40\x01\0\0\0\0"s;
    std::vector<std::byte> bytes(huge.size());
    std::memcpy(bytes.data(), huge.data(), huge.size());
    check_error<format_error>([&] { png(bytes); }, "", "mem.png");
}

BOOST_AUTO_TEST_CASE(the_first_bytes_choose_the_reader) {
    temporary_folder folder;
    const png_byte white = 255;
    const std::vector<std::byte> bytes = encode_png(1, 1, PNG_FORMAT_GRAY, &white);
    write_bytes(folder / "a", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    write_bytes(folder / "b", "P2 1 1 1 1");
    BOOST_TEST(sinter::io::read_image(folder / "a").pixels.at(0) == 1.0f);
    BOOST_TEST(sinter::io::read_image(folder / "b").pixels.at(0) == 1.0f);
    write_bytes(folder / "c", "GIF89a");
    check_error<format_error>([&] { sinter::io::read_image(folder / "c"); }, "not a PGM", folder / "c");
    check_error<sinter::io_error>([&] { sinter::io::read_image(folder / "d"); }, "cannot open", folder / "d");
}

#include <sinter/io/png.hpp>
#include "error_parts.hpp"

namespace {
std::string png_chunk(std::string_view type, std::string_view data, std::uint32_t claimed) {
    std::string s;
    for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(claimed >> shift & 0xff);
    return s.append(type).append(data) + "sum!";
}
} // namespace

// What a PNG promises is held against its bytes before libpng, which would make room for it, sees any.
BOOST_AUTO_TEST_CASE(a_png_that_promises_too_much) {
    using namespace std::string_literals;
    // 8000 x 8000, colours
    const std::string start = "\x89PNG\r\n\x1a\n"s, head = "\0\0\x1f\x40\0\0\x1f\x40\x08\x02\0\0\0"s;
    const auto refused = [](const std::string& png, const char* got) {
        check_error<sinter::format_error>([&] { sinter::io::parse_png(sinter::as_bytes(png), "p"); }, "cut short",
                                          "p", got);
    };
    refused(start + png_chunk("IHDR", head, 13) + png_chunk("IDAT", "tiny", 4) + png_chunk("IEND", "", 0),
            "4 compressed bytes");
    refused(start + png_chunk("IHDR", head, 13) + png_chunk("zTXt", "comment", 0x7fffffff), "2147483647");
}
