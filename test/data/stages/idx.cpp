// SPDX-License-Identifier: BSL-1.0
// shows data: IDX files of all types and ranks as elements, held against the struct when they are opened
// needs: zlib
#define BOOST_TEST_MODULE stages_idx
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "io/data_folder.hpp"
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/source/idx.hpp>
#include <sinter/data/stages/idx.hpp>
#include <zlib.h>

using namespace sinter;

namespace {

/// An IDX file: its head, and numbers highest byte first.
std::string header(char type, std::initializer_list<int> extents) {
    std::string s{'\0', '\0', type, static_cast<char>(extents.size())};
    for (const int e : extents)
        for (const int shift : {24, 16, 8, 0}) s += static_cast<char>(e >> shift);
    return s;
}
template <class N>
std::string file_of(char type, std::initializer_list<int> extents, const std::vector<N>& numbers) {
    std::string s = header(type, extents);
    for (const N n : numbers) {
        std::string bytes(sizeof n, '\0');
        std::memcpy(bytes.data(), &n, sizeof n);
        if (std::endian::native == std::endian::little) std::reverse(bytes.begin(), bytes.end());
        s += bytes;
    }
    return s;
}

template <class N>
void read_back(const std::string& path, char type, std::vector<N> numbers) {
    write_bytes(path, file_of(type, {3, 2, 2}, numbers));
    using matrix = std::array<std::array<N, 2>, 2>;
    std::vector<matrix> all(3);
    std::memcpy(all.data(), numbers.data(), sizeof(matrix) * 3);
    reading::check(data::idx<matrix>(path), 0, all, 3);
    write_bytes(path, file_of(type, {12}, numbers));
    reading::check(data::idx<N>(path), 0, numbers, 12);
    write_bytes(path, file_of(type, {1, 1, 3, 1, 2, 1, 1, 2}, numbers));
    using cube = std::array<matrix, 3>;
    std::vector<cube> one(1);
    std::memcpy(one.data(), numbers.data(), sizeof(cube));
    reading::check(data::idx<cube>(path), 0, one, 1);
}

} // namespace

BOOST_AUTO_TEST_CASE(all_types) {
    temporary_folder folder;
    const std::string path = folder / "a.idx";
    read_back<std::uint8_t>(path, 8, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 128, 255});
    read_back<std::int8_t>(path, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -128, 127});
    read_back<std::int16_t>(path, 11, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -32768, 32767});
    read_back<std::int32_t>(path, 12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, INT32_MIN, INT32_MAX});
    read_back<float>(path, 13, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1e30f, 1e-40f});
    read_back<double>(path, 14, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1e300, 1e-310});
}

BOOST_AUTO_TEST_CASE(numbers_that_have_all_of_the_files) {
    temporary_folder folder;
    const std::string bytes = write_bytes(folder / "u8", file_of<std::uint8_t>(8, {2}, {3, 255})),
                      small = write_bytes(folder / "i16", file_of<std::int16_t>(11, {2}, {-3, 300})),
                      floats = write_bytes(folder / "f32", file_of<float>(13, {1, 2}, {.5f, -2}));
    reading::check(data::idx<int>(bytes), 0, {3, 255}, 2);
    reading::check(data::idx<std::uint64_t>(bytes), 0, {3, 255}, 2);
    reading::check(data::idx<std::int64_t>(small), 0, {-3, 300}, 2);
    reading::check(data::idx<std::array<double, 2>>(floats), 0, {{.5, -2}}, 1);
    check_error<data_error>([&] { data::idx<std::int8_t>(bytes); }, "does not fit the element", "u8",
                            "examples [] of bytes", "[] of signed bytes");
    check_error<data_error>([&] { data::idx<unsigned>(small); }, "does not fit", "i16", "of 16-bit integers",
                            "of 32-bit integers without signs");
    check_error<data_error>([&] { data::idx<float>(bytes); }, "does not fit", "u8", "of bytes", "of floats");
    check_error<data_error>([&] { data::idx<std::array<int, 2>>(floats); }, "does not fit", "f32", "[2] of floats",
                            "[2] of 32-bit integers");
    check_error<data_error>([&] { data::idx<std::array<float, 3>>(floats); }, "does not fit", "f32", "[2] of floats",
                            "[3] of floats");
    check_error<data_error>([&] { data::idx<float>(floats); }, "does not fit", "f32", "[2] of floats", "[] of floats");
}

BOOST_AUTO_TEST_CASE(a_file_for_each_field) {
    temporary_folder folder;
    const std::string images = write_bytes(folder / "images",
                                           file_of<std::uint8_t>(8, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})),
                      labels = write_bytes(folder / "labels", file_of<std::uint8_t>(8, {2}, {9, 0})),
                      three = write_bytes(folder / "three", file_of<std::uint8_t>(8, {3}, {9, 0, 1}));
    struct digit {
        data::pixels<2, 2> image;
        int label;
        data::extra<std::array<std::array<std::uint8_t, 2>, 2>> again;
    };
    const auto all = data::idx<digit>({images, labels, images});
    BOOST_TEST(all.size() == 2);
    data::idx_stage<digit>::state s{};
    all.prefetch(s, 1);
    BOOST_TEST(all.get(s, 1).image(1, 0) == 7);
    BOOST_TEST(all.get(s, 0).label == 9);
    BOOST_TEST(all.get(s, 1).again.value[0][1] == 6);
    check_error<data_error>([&] { data::idx<digit>({images, three, images}); }, "different numbers of examples",
                            "three, field 'label'", "3", "2, as in");
    check_error<data_error>([&] { data::idx<digit>({labels, labels, images}); }, "does not fit",
                            "labels, field 'image'", "[] of bytes", "[2, 2, 1] of bytes");
    check_error<option_error>([&] { data::idx<digit>({images, labels}); }, "another number of files than fields", "idx",
                              "2 files", "3");
    check_error<io_error>([&] { data::idx<int>(folder / "no"); }, "cannot open", "/no");
    check_error<format_error>([&] { data::idx<int>(write_bytes(folder / "bad", "no idx file")); }, "not an IDX file",
                              "bad");
    const std::string zeros = write_bytes(folder / "large", header(8, {1 << 30, 1 << 30}));
    check_error<format_error>([&] { data::idx<std::array<std::uint8_t, 5>>(zeros); }, "cut short", "large");
    const std::string packed = folder / "packed.gz";
    const gzFile out = gzopen(packed.c_str(), "wb");
    const std::string plain = read_bytes(labels);
    BOOST_TEST(gzwrite(out, plain.data(), static_cast<unsigned>(plain.size())) == static_cast<int>(plain.size()));
    gzclose(out);
    reading::check(data::idx<std::uint8_t>(packed), 0, {9, 0}, 2);
    description d;
    all.describe(d);
    BOOST_TEST(holds(d.text(), "[2, 2, 2]"));
}

BOOST_AUTO_TEST_CASE(fashion_mnist) {   // against data::idx() of columns
    const std::string folder = data_file("fashion-mnist");
    if (folder.empty()) return skip("no fashion-mnist below SINTER_DATA");
    const std::string images = folder + "/t10k-images-idx3-ubyte.gz", labels = folder + "/t10k-labels-idx1-ubyte.gz";
    struct garment { data::pixels<28, 28> image; std::int32_t label; };
    const auto all = data::idx<garment>({images, labels});
    const data::dataset set = data::idx(images, labels, 10);
    BOOST_TEST_REQUIRE(all.size() == set.size());
    data::idx_stage<garment>::state s{};
    for (std::int64_t i = 0; i < all.size(); i += 97) {
        const garment g = all.get(s, i);
        BOOST_TEST(std::memcmp(g.image.bytes.data(), set.row(0, i), 784) == 0);
        BOOST_TEST(std::memcmp(&g.label, set.row(1, i), 4) == 0);
    }
}
