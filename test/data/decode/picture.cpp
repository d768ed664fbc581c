// SPDX-License-Identifier: BSL-1.0
// needs: png jpeg
#define BOOST_TEST_MODULE data_decode_picture
#include "data/image/hashed.hpp"
#include "fixtures/pictures.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"

#include <sinter/data/decode/picture.hpp>

using namespace sinter;

BOOST_AUTO_TEST_CASE(the_first_bytes_choose_the_decoder) {
    temporary_folder folder;
    write_bytes(folder / "a", {pictures::jpeg_420, sizeof pictures::jpeg_420 - 1});
    write_bytes(folder / "b", {pictures::png_rgb, sizeof pictures::png_rgb - 1});
    write_bytes(folder / "c", "GIF89a");
    write_bytes(folder / "d", "");
    BOOST_TEST(difference(data::read_picture(folder / "a"), pictures::jpeg_420_rgb) == 0);
    BOOST_TEST(difference(data::read_picture(folder / "a", {.to = data::colours::grey}), pictures::jpeg_420_l) == 0);
    BOOST_TEST(difference(data::read_picture(folder / "b"), pictures::png_rgb_stored) == 0);
    for (const char* name : {"c", "d"})
        check_error<format_error>([&] { data::read_picture(folder / name); }, "not a picture", folder / name, "",
                                  "a JPEG or a PNG");
    check_error<io_error>([&] { data::read_picture(folder / "e"); }, "cannot open", folder / "e");
}
