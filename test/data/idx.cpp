// SPDX-License-Identifier: BSL-1.0
// needs: zlib
#define BOOST_TEST_MODULE data_idx
#include <boost/test/unit_test.hpp>
#include "support/peak_memory.hpp"
#include <sinter/data/source/idx.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <zlib.h>

using namespace sinter;

struct folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("sinter_data_idx_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "_" +
                                  std::to_string(std::filesystem::file_time_type::clock::now().time_since_epoch()
                                                 .count()));
    folder() { std::filesystem::create_directory(path); }
    ~folder() { std::filesystem::remove_all(path); }
    std::string write(const char* name, const std::string& bytes) const {
        const std::string file = (path / name).string();
        std::FILE* f = std::fopen(file.c_str(), "wb");
        BOOST_REQUIRE(f);
        BOOST_REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size());
        std::fclose(f);
        return file;
    }
};

static std::string header(char type, std::initializer_list<int> extents) {
    std::string s{'\0', '\0', type, static_cast<char>(extents.size())};
    for (int e : extents)
        for (int shift : {24, 16, 8, 0}) s += static_cast<char>(e >> shift);
    return s;
}

BOOST_AUTO_TEST_CASE(bytes_become_floats_with_labels) {
    const folder f;
    const auto images =
        f.write("images", header(8, {2, 2, 3}) + std::string("\x00\xff\x33\x01\x02\x03\x04\x05\x06\x07\x08\x09", 12));
    const auto labels = f.write("labels", header(8, {2}) + std::string("\x07\x02", 2));
    const data::dataset set = data::idx(images, labels, 10);
    BOOST_TEST(set.size() == 2);
    BOOST_TEST((set.columns()[0].row == extents(2, 3, 1)));
    BOOST_TEST(set.x()[0] == 0.0f);
    BOOST_TEST(set.x()[1] == 1.0f);
    BOOST_TEST(set.x()[2] == 0.2f);
    BOOST_TEST(set.x()[11] == 9.0f / 255.0f);
    BOOST_TEST(set.labels()[0] == 7);
    BOOST_TEST(set.labels()[1] == 2);
    BOOST_CHECK_EXCEPTION(data::idx(images, labels, 7), data_error, [&](const data_error& e) {
        return e.where() == labels + ", label 0" && e.got() == "7" && e.needed() == "0 to 6";
    });
}

BOOST_AUTO_TEST_CASE(files_that_do_not_fit_are_named) {
    const folder f;
    const auto images = f.write("images", header(8, {2, 1, 1}) + "ab");
    const auto colour = f.write("colour", header(8, {1, 1, 1, 3}) + "abc");
    const auto three = f.write("three", header(8, {3}) + "abc");
    const auto none = f.write("none", header(8, {0, 1 << 30, 1 << 30}));
    BOOST_TEST((data::idx(colour).columns()[0].row == extents(1, 1, 3)));
    BOOST_CHECK_EXCEPTION(data::idx(images, three), data_error, [&](const data_error& e) {
        return e.where() == three && e.got() == "3 labels" && e.needed() == "2, as in " + images;
    });
    BOOST_CHECK_THROW(data::idx(three), data_error);
    BOOST_CHECK_THROW(data::idx(none), data_error);
    BOOST_CHECK_THROW(data::idx(images, images), data_error);
    BOOST_CHECK_THROW(data::idx(f.path.string() + "/absent"), io_error);
    BOOST_CHECK_THROW(data::idx(f.write("text", "hello")), format_error);
}

// Two thousand million gzipped labels are two megabytes: of two images they are refused by what their header says. A
// process that may not have a gigabyte would end otherwise.
BOOST_AUTO_TEST_CASE(labels_are_counted_before_memory_is_taken_for_them) {
    const folder f;
    const auto images = f.write("images", header(8, {2, 1, 1}) + "ab"), labels = (f.path / "labels.gz").string();
    gzFile to = gzopen(labels.c_str(), "wb1");
    const int count = 2'000'000'000;
    const std::string head = header(8, {count}), zeros(1 << 20, '\0');
    BOOST_REQUIRE(gzwrite(to, head.data(), 8) == 8);
    for (int i = 0; i < 64; ++i) gzwrite(to, zeros.data(), 1 << 20);   // enough: what follows is never read
    gzclose(to);
    const std::string block = [&] {
        std::FILE* in = std::fopen(labels.c_str(), "rb");
        std::string s(1 << 20, '\0');
        s.resize(std::fread(s.data(), 1, s.size(), in));
        std::fclose(in);
        return s;
    }();
    std::FILE* more = std::fopen(labels.c_str(), "ab");
    for (int i = 0; i < 30; ++i) std::fwrite(block.data(), 1, block.size(), more);
    std::fclose(more);
    rlimit before{};
    ::getrlimit(RLIMIT_AS, &before);
    rlimit few = before;
    few.rlim_cur = std::size_t{1} << 30;
    if (!sinter::test::is_sanitized) ::setrlimit(RLIMIT_AS, &few);   // the sanitizer's own memory is more
    BOOST_CHECK_EXCEPTION(data::idx(images, labels), data_error, [&](const data_error& e) {
        return e.got() == "2000000000 labels" && e.needed() == "2, as in " + images;
    });
    BOOST_CHECK_THROW(data::idx(labels), data_error);   // nor are they images
    ::setrlimit(RLIMIT_AS, &before);
}
