// SPDX-License-Identifier: BSL-1.0
// shows files: a PNG of bytes that is cut short or damaged is refused
// needs: png
#define BOOST_TEST_MODULE data_decode_png
#include "data/image/hashed.hpp"
#include "fixtures/pictures.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"

#include <sinter/data/decode/png.hpp>

using namespace sinter;

namespace {

struct sample {
    const char* name;
    std::vector<std::byte> file;
    span<const std::uint8_t> stored, grey;   // grey: none of what Pillow makes otherwise
    std::size_t channels;
};
#define STORED(name, channels) \
    sample{#name, file_of(pictures::name), pictures::name##_stored, pictures::name##_l, channels}
std::vector<sample> samples() {
    return {STORED(png_grey, 1),
            STORED(png_grey_alpha, 2),
            STORED(png_rgb, 3),
            STORED(png_rgba, 4),
            STORED(png_interlaced, 3),
            STORED(png_bits, 1),
            STORED(png_two_bits, 1),
            STORED(png_palette, 3),
            STORED(png_palette_alpha, 4),
            STORED(png_transparent_colour, 4),
            STORED(png_sixteen_bits, 3),
            {"png_grey_sixteen_bits", file_of(pictures::png_grey_sixteen_bits),
             pictures::png_grey_sixteen_bits_stored, pictures::png_grey_sixteen_bits_stored, 1}};
}
#undef STORED
data::bitmap decoded(span<const std::byte> bytes, const data::decode_options& options = {}) {
    return data::decode_png(bytes, "mem.png", options);
}
bool is_picture(span<const std::byte> bytes) {
    try {
        const data::bitmap p = decoded(bytes, {.max_pixels = 1 << 20});
        BOOST_REQUIRE(p.bytes.size() == p.height * p.width * p.channels);
        return true;
    } catch (const format_error& e) {
        BOOST_REQUIRE(holds(e.where(), "mem.png"));
        return false;
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(bytes_are_those_that_were_encoded) {
    for (const sample& s : samples()) {
        BOOST_TEST_CONTEXT(s.name) {
            const data::bitmap stored = decoded(s.file, {.to = data::colours::as_stored});
            BOOST_TEST(stored.channels == s.channels);
            BOOST_TEST(difference(stored, s.stored) == 0);
            BOOST_TEST(difference(decoded(s.file, {.to = data::colours::grey}), s.grey) == 0);
            const data::bitmap rgb = decoded(s.file);
            BOOST_TEST(rgb.channels == 3u);
            BOOST_TEST((rgb.height == stored.height && rgb.width == stored.width));
            for (std::size_t i = 0; i < rgb.height * rgb.width; ++i)
                for (std::size_t c = 0; c < 3; ++c)
                    BOOST_TEST(rgb.bytes[3 * i + c] == s.stored[i * s.channels + (s.channels < 3 ? 0 : c)]);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_file_on_disk) {
    temporary_folder folder;
    write_bytes(folder / "a.png", {pictures::png_rgb, sizeof pictures::png_rgb - 1});
    BOOST_TEST(difference(data::read_png(folder / "a.png"), pictures::png_rgb_stored) == 0);
    check_error<io_error>([&] { data::read_png(folder / "b.png"); }, "cannot open", folder / "b.png");
}

BOOST_AUTO_TEST_CASE(refusals) {
    check_error<format_error>([] { decoded({}); }, "not a PNG", "mem.png");
    check_error<format_error>([] { decoded(as_bytes(std::string_view("GIF89a"))); }, "not a PNG", "mem.png");
    check_error<format_error>([] { decoded(file_of(pictures::png_rgb), {.max_pixels = 14}); }, "too large", "mem.png",
                              "5 x 3 pixels", "at most 14 pixels");
    BOOST_TEST(decoded(file_of(pictures::png_rgb), {.max_pixels = 15}).bytes.size() == 45u);
    using namespace std::string_literals;
    // 65536 x 32768 pixels, which are 2^31: the header alone, with its right checksum, then pixels of no length.
    const std::string huge = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\0\0\0\0\x80\0\x08\x02\0\0\0\xa7\x5a\x4d\xd8"s
                             "\0\0\0\0IDAT\x35\xaf\x06\x1e"s;
    check_error<format_error>([&] { decoded(as_bytes(huge)); }, "too large", "mem.png", "65536 x 32768");
}

BOOST_AUTO_TEST_CASE(every_beginning_of_a_file_is_refused) {
    for (const sample& s : samples())
        for (std::size_t n = 0; n < s.file.size(); ++n)
            if (is_picture(span<const std::byte>(s.file).first(n)))
                BOOST_ERROR(s.name << " cut to " << n << " bytes is taken for a picture");
}

BOOST_AUTO_TEST_CASE(flipped_bits_give_an_error_or_a_picture) {
    int errors = 0;
    for (const sample& s : samples())
        for (std::size_t i = 0; i < s.file.size(); ++i)
            for (unsigned bit = 0; bit < 8; ++bit) {
                std::vector<std::byte> file = s.file;
                file[i] ^= static_cast<std::byte>(1u << bit);
                errors += !is_picture(file);
            }
    BOOST_TEST(errors > 0);
}
