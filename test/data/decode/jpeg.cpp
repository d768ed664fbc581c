// SPDX-License-Identifier: BSL-1.0
// shows files: a JPEG that is cut short or damaged is refused, or is a picture
// needs: jpeg
#define BOOST_TEST_MODULE data_decode_jpeg
#include "data/image/hashed.hpp"
#include "fixtures/pictures.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"

#include <sinter/data/decode/jpeg.hpp>

using namespace sinter;

namespace {

struct sample {
    const char* name;
    std::vector<std::byte> file;
    span<const std::uint8_t> rgb, grey;
};
#define SAMPLE(name) sample{#name, file_of(pictures::name), pictures::name##_rgb, pictures::name##_l}
std::vector<sample> samples() {
    return {SAMPLE(jpeg_420), SAMPLE(jpeg_422), SAMPLE(jpeg_444), SAMPLE(jpeg_progressive), SAMPLE(jpeg_rgb),
            SAMPLE(jpeg_restart), SAMPLE(jpeg_turned), SAMPLE(jpeg_grey)};
}
#undef SAMPLE

data::bitmap decoded(span<const std::byte> bytes, const data::decode_options& options = {}) {
    return data::decode_jpeg(bytes, "mem.jpg", options);
}
/// A picture, or a format_error: whatever else comes out fails the test.
bool is_picture(span<const std::byte> bytes) {
    try {
        const data::bitmap p = decoded(bytes, {.max_pixels = 1 << 20});
        BOOST_REQUIRE(p.bytes.size() == p.height * p.width * p.channels);
        return true;
    } catch (const format_error& e) {
        BOOST_REQUIRE(holds(e.where(), "mem.jpg"));
        return false;
    }
}
/// Where the extents are: behind the marker that begins a frame, its length, and the bits of a channel.
std::size_t extents_of(const std::vector<std::byte>& file) {
    for (std::size_t i = 0; i + 9 < file.size(); ++i)
        if (file[i] == std::byte{0xff} && file[i + 1] == std::byte{0xc0}) return i + 5;
    return 0;
}
void set_extents(std::vector<std::byte>& file, unsigned height, unsigned width) {
    const std::size_t at = extents_of(file);
    BOOST_REQUIRE(at > 0);
    file[at] = static_cast<std::byte>(height >> 8), file[at + 1] = static_cast<std::byte>(height);
    file[at + 2] = static_cast<std::byte>(width >> 8), file[at + 3] = static_cast<std::byte>(width);
}

} // namespace

BOOST_AUTO_TEST_CASE(pixels_are_those_of_pillow) {
    for (const sample& s : samples()) {
        BOOST_TEST_CONTEXT(s.name) {
            const data::bitmap rgb = decoded(s.file), grey = decoded(s.file, {.to = data::colours::grey});
            BOOST_TEST((rgb.height == 13 && rgb.width == 19 && rgb.channels == 3));
            BOOST_TEST(difference(rgb, s.rgb) == 0);
            BOOST_TEST((grey.height == 13 && grey.width == 19 && grey.channels == 1));
            BOOST_TEST(difference(grey, s.grey) == 0);
            const data::bitmap stored = decoded(s.file, {.to = data::colours::as_stored});
            BOOST_TEST(difference(stored, std::string_view(s.name) == "jpeg_grey" ? s.grey : s.rgb) == 0);
        }
    }
}

BOOST_AUTO_TEST_CASE(memory_is_used_again) {
    data::bitmap out;
    data::decode_jpeg(file_of(pictures::jpeg_420), "mem.jpg", out);
    const void* const before = out.bytes.data();
    data::decode_jpeg(file_of(pictures::jpeg_444), "mem.jpg", out);
    BOOST_TEST(out.bytes.data() == before);
    BOOST_TEST(difference(out, pictures::jpeg_444_rgb) == 0);
}

BOOST_AUTO_TEST_CASE(a_file_on_disk) {
    temporary_folder folder;
    write_bytes(folder / "a.jpg", {pictures::jpeg_420, sizeof pictures::jpeg_420 - 1});
    BOOST_TEST(difference(data::read_jpeg(folder / "a.jpg"), pictures::jpeg_420_rgb) == 0);
    check_error<io_error>([&] { data::read_jpeg(folder / "b.jpg"); }, "cannot open", folder / "b.jpg");
}

BOOST_AUTO_TEST_CASE(refusals) {
    const auto refused = [](span<const std::byte> bytes, std::string_view fault, std::string_view got,
                            std::string_view needed, const data::decode_options& options = {}) {
        check_error<format_error>([&] { decoded(bytes, options); }, fault, "mem.jpg", got, needed);
    };
    refused({}, "not a JPEG", "", "a valid JPEG");
    refused(as_bytes(std::string_view("GIF89a")), "not a JPEG", "Not a JPEG file", "a valid JPEG");
    refused(file_of(pictures::jpeg_cmyk), "colours", "CMYK", "grey, YCbCr or RGB");
    refused(file_of(pictures::jpeg_420), "too large", "19 x 13 pixels", "at most 246 pixels", {.max_pixels = 246});
    BOOST_TEST(decoded(file_of(pictures::jpeg_420), {.max_pixels = 247}).bytes.size() == 741u);
    refused(file_of(pictures::jpeg_progressive), "damaged", "more than 3 scans", "a valid JPEG", {.max_scans = 3});
}

BOOST_AUTO_TEST_CASE(more_pixels_than_there_may_be_ask_for_no_memory) {
    std::vector<std::byte> huge = file_of(pictures::jpeg_420);
    set_extents(huge, 65500, 65500);   // more than 2^31
    check_error<format_error>([&] { decoded(huge); }, "too large", "mem.jpg", "65500 x 65500", "at most 67108864");
    // As many as are taken, in a file of a thousand bytes.
    set_extents(huge, 8192, 8192);
    check_error<format_error>([&] { decoded(huge); }, "cut short", "mem.jpg", "bytes", "a bit for each of");
    set_extents(huge, 0, 19);
    check_error<format_error>([&] { decoded(huge); }, "not a JPEG", "mem.jpg");
}

BOOST_AUTO_TEST_CASE(every_beginning_of_a_file_is_refused) {
    for (const sample& s : samples())
        for (std::size_t n = 0; n < s.file.size(); ++n)
            if (is_picture(span<const std::byte>(s.file).first(n)))
                BOOST_ERROR(s.name << " cut to " << n << " bytes is taken for a picture");
}

BOOST_AUTO_TEST_CASE(flipped_bits_give_an_error_or_a_picture) {
    int pictures = 0, errors = 0;
    for (const sample& s : samples())
        for (std::size_t i = 0; i < s.file.size(); ++i) {
            std::vector<std::byte> file = s.file;
            file[i] ^= static_cast<std::byte>(1u << (i * 5 % 8));
            ++(is_picture(file) ? pictures : errors);
            file[i] = std::byte{0xff};
            ++(is_picture(file) ? pictures : errors);
        }
    BOOST_TEST(pictures > 0);
    BOOST_TEST(errors > 0);
}

BOOST_AUTO_TEST_CASE(bytes_behind_the_end_are_not_looked_at) {
    std::vector<std::byte> longer = file_of(pictures::jpeg_420);
    longer.resize(longer.size() + 100);
    BOOST_TEST(difference(decoded(longer), pictures::jpeg_420_rgb) == 0);
}
