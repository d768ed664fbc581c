// SPDX-License-Identifier: BSL-1.0
// shows data: folders of JPEG and PNG pictures are classes; damaged pictures name their files
// needs: png jpeg
#define BOOST_TEST_MODULE stages_pictures
#include <boost/test/unit_test.hpp>
#include "data/image/hashed.hpp"
#include "fixtures/pictures.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/ignore_errors.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/pictures.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <filesystem>

using namespace sinter;

namespace {

struct sample {
    data::pixels<8, 9, 3> image;
    std::int32_t kind;
};
std::string bytes_of(span<const std::byte> file) {
    return {reinterpret_cast<const char*>(file.data()), file.size()};
}
/// Two classes, in folders that were made in another order, beside what is none.
struct flowers {
    temporary_folder folder;
    std::string rose, daisy;
    flowers() : rose(folder / "rose"), daisy(folder / "daisy") {
        for (const std::string& path : {rose, daisy, std::string(folder / ".hidden")})
            std::filesystem::create_directory(path);
        write_bytes(rose + "/b.JPG", bytes_of(file_of(pictures::jpeg_420)));
        write_bytes(rose + "/a.png", bytes_of(file_of(pictures::png_rgb)));
        write_bytes(daisy + "/9.png", bytes_of(file_of(pictures::png_grey)));
        write_bytes(daisy + "/10.png", bytes_of(file_of(pictures::png_rgba)));
        write_bytes(daisy + "/notes.txt", "none");
        write_bytes(daisy + "/.cut.png", "none");
        write_bytes(folder / "alone.png", "none");
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(classes_and_files_are_in_the_order_of_their_names) {
    const flowers f;
    const auto all = data::pictures(f.folder.path());
    BOOST_TEST(all.classes() == (std::vector<std::string>{"daisy", "rose"}));
    const std::vector<std::string> paths{f.daisy + "/10.png", f.daisy + "/9.png", f.rose + "/a.png", f.rose + "/b.JPG"};
    BOOST_TEST(all.size() == 4);
    std::size_t i = 0;
    for (const data::picture& p : data::elements(all)) {
        BOOST_TEST(p.path == paths[i]);
        BOOST_TEST(p.label == static_cast<int>(i / 2));
        BOOST_TEST((p.image.bytes == data::read_picture(paths[i]).bytes));
        BOOST_TEST(p.image.channels == 3u);
        ++i;
    }
    const auto grey = data::pictures(f.folder.path(), {.to = data::colours::grey});
    for (const data::picture& p : data::elements(grey)) BOOST_TEST(p.image.channels == 1u);
}

BOOST_AUTO_TEST_CASE(pictures_of_any_extents_become_samples) {
    const flowers f;
    const auto samples = data::pictures(f.folder.path()) | data::shuffle({.seed = 2}) |
        data::map([](const data::picture& p) { return sample{data::resized<8, 9, 3>(p.image), p.label}; });
    int kinds = 0, n = 0;
    for (const sample& s : data::elements(samples)) kinds += s.kind, ++n;
    BOOST_TEST(n == 4);
    BOOST_TEST(kinds == 2);
    const data::bitmap one = data::read_picture(f.rose + "/b.JPG");
    const data::bitmap small = data::image::resize(one, 8, 9);
    const auto p = data::resized<8, 9, 3>(one);
    BOOST_TEST(std::equal(small.bytes.begin(), small.bytes.end(), p.bytes.begin(), p.bytes.end()));
    check_error<data_error>([&] { data::as_pixels<8, 9, 3>(one); }, "other extents", "as_pixels", "x 3", "8 x 9 x 3");
    check_error<data_error>([&] { data::resized<8, 9, 1>(one); }, "other extents", "as_pixels", "8 x 9 x 3");
}

BOOST_AUTO_TEST_CASE(damaged_pictures_name_their_files_and_can_be_left_out) {
    const flowers f;
    write_bytes(f.rose + "/aa.jpg", bytes_of(file_of(pictures::jpeg_420)).substr(0, 100));
    write_bytes(f.daisy + "/x.png", "no picture");
    const auto all = data::pictures(f.folder.path());
    check_error<format_error>([&] { data::picture_stage::state s; all.get(s, 2); }, "not a picture", "daisy/x.png");
    data::ignored_errors left_out;
    int n = 0;
    for (const data::picture& p : data::elements(all | data::ignore_errors(2, left_out))) n += p.image.height > 0;
    BOOST_TEST(n == 4);
    BOOST_TEST(left_out.count() == 2);
    BOOST_TEST(holds(left_out.first(), "daisy/x.png"));
}

BOOST_AUTO_TEST_CASE(folders_without_pictures_are_errors) {
    temporary_folder folder;
    check_error<data_error>([&] { data::pictures(folder.path()); }, "no classes", folder.path());
    check_error<io_error>([&] { data::pictures(folder / "none"); }, "cannot read the folder", "none");
    std::filesystem::create_directory(folder / "empty");
    check_error<data_error>([&] { data::pictures(folder.path()); }, "no pictures", "empty", {}, "*.jpg");
}
