// SPDX-License-Identifier: BSL-1.0
// Resized pictures, beside Pillow's and beside sums of real numbers.
#define BOOST_TEST_MODULE data_image_resize
#include "data/image/hashed.hpp"
#include "fixtures/pictures.hpp"
#include "io/error_parts.hpp"

#include <sinter/data/image/byte_vectors.hpp>
#include <sinter/data/image/resize.hpp>
#include <cmath>

using namespace sinter;
using data::image::interpolation;

namespace {

/// The triangle's share of each pixel along an axis, without integers, passes or windows.
std::vector<double> resized_row(const std::vector<double>& in, std::size_t to) {
    const double scale = static_cast<double>(in.size()) / static_cast<double>(to), wide = std::max(1.0, scale);
    std::vector<double> out;
    for (std::size_t i = 0; i < to; ++i) {
        double sum = 0, all = 0;
        for (std::size_t p = 0; p < in.size(); ++p) {
            const double far = std::abs(static_cast<double>(p) + 0.5 - (static_cast<double>(i) + 0.5) * scale) / wide;
            const double share = std::max(0.0, 1 - far);
            sum += share * in[p], all += share;
        }
        out.push_back(sum / all);
    }
    return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(bytes_are_those_of_pillow) {
    const data::bitmap in = hashed(17, 23, 3);
#define RESIZED(height, width)                                                                                        \
    BOOST_TEST(difference(data::image::resize(in, height, width), pictures::bilinear_##height##_##width) == 0);       \
    BOOST_TEST(difference(data::image::resize(in, height, width, interpolation::bicubic),                             \
                          pictures::bicubic_##height##_##width) == 0)
    RESIZED(7, 9);
    RESIZED(19, 25);
    RESIZED(10, 27);
    RESIZED(27, 5);
    RESIZED(17, 12);
    RESIZED(5, 23);
    RESIZED(17, 23);
    RESIZED(1, 1);
    RESIZED(30, 2);
    RESIZED(4, 20);
#undef RESIZED
}

// Each channel is resized by itself: a picture of one channel is the same as that channel of another.
BOOST_AUTO_TEST_CASE(any_number_of_channels) {
    for (std::size_t channels = 1; channels <= 4; ++channels) {
        const data::bitmap in = hashed(21, 34, channels);
        for (const auto& [height, width] : {std::pair<std::size_t, std::size_t>{9, 40}, {40, 9}, {9, 9}, {40, 40}}) {
            const data::bitmap all = data::image::resize(in, height, width);
            for (std::size_t c = 0; c < channels; ++c) {
                data::bitmap one;
                one.reshape(21, 34, 1);
                for (std::size_t i = 0; i < one.bytes.size(); ++i) one.bytes[i] = in.bytes[i * channels + c];
                const data::bitmap alone = data::image::resize(one, height, width);
                for (std::size_t i = 0; i < alone.bytes.size(); ++i)
                    BOOST_REQUIRE(alone.bytes[i] == all.bytes[i * channels + c]);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(rows_and_columns_beside_real_numbers) {
    for (const std::size_t from : {1u, 2u, 5u, 16u, 97u, 3000u})
        for (const std::size_t to : {1u, 3u, 8u, 33u, 200u}) {
            data::bitmap row = hashed(1, from, 1), column = row;
            column.height = from, column.width = 1;
            const std::vector<double> want = resized_row({row.bytes.begin(), row.bytes.end()}, to);
            const data::bitmap across = data::image::resize(row, 1, to), down = data::image::resize(column, to, 1);
            BOOST_REQUIRE(across.bytes.size() == to);
            BOOST_TEST(across.bytes == down.bytes);
            for (std::size_t i = 0; i < to; ++i) BOOST_TEST(std::abs(across.bytes[i] - want[i]) < 0.51);
        }
}

BOOST_AUTO_TEST_CASE(one_colour_stays) {
    data::bitmap in;
    in.reshape(50, 70, 3);
    std::fill(in.bytes.begin(), in.bytes.end(), std::uint8_t{255});
    for (const auto filter : {interpolation::bilinear, interpolation::bicubic})
        for (const auto& [height, width] : {std::pair<std::size_t, std::size_t>{7, 11}, {333, 2}, {90, 80}})
            for (const std::uint8_t byte : data::image::resize(in, height, width, filter).bytes)
                BOOST_REQUIRE(byte == 255);
}

BOOST_AUTO_TEST_CASE(memory_is_used_again) {
    const data::bitmap in = hashed(40, 40, 3);
    data::bitmap out;
    data::image::resize(in, 20, 20, out);
    const void* const before = out.bytes.data();
    data::image::resize(in, 10, 20, out);
    BOOST_TEST(out.bytes.data() == before);
    BOOST_TEST((out.height == 10 && out.width == 20 && out.bytes.size() == 600));
}

BOOST_AUTO_TEST_CASE(the_shorter_side) {
    const auto side = [](std::size_t height, std::size_t width, std::size_t to) {
        const data::bitmap in = hashed(height, width, 1);
        const data::image::extent e = data::image::shorter_side(in, to);
        return std::pair(e.height, e.width);
    };
    BOOST_TEST((side(375, 500, 256) == std::pair<std::size_t, std::size_t>(256, 341)));
    BOOST_TEST((side(500, 375, 256) == std::pair<std::size_t, std::size_t>(341, 256)));
    BOOST_TEST((side(20, 20, 7) == std::pair<std::size_t, std::size_t>(7, 7)));
}

BOOST_AUTO_TEST_CASE(refusals) {
    data::bitmap in = hashed(3, 3, 3), out;
    check_error<data_error>([&] { data::image::resize(in, 0, 3, out); }, "no picture", "resize", "0 x 3", "1 x 1");
    in.channels = 5;
    check_error<data_error>([&] { data::image::resize(in, 3, 3, out); }, "no picture", "resize", "5 channels");
    in = {};
    check_error<data_error>([&] { data::image::resize(in, 3, 3, out); }, "no picture", "resize", "0 x 0");
    check_error<data_error>([&] { data::image::shorter_side(in, 3); }, "no picture", "shorter_side");
}

// What one instruction does is what a loop does.
BOOST_AUTO_TEST_CASE(vectors_of_bytes) {
    using namespace data::image::detail;
    const eight_shorts a = {1, -2, 32767, 255, -32768, 7, 0, 3}, b = {100, 200, 2, -3, 1, 30000, 9, -255};
    const four_integers sums = sums_of_pairs(a, b), plain = sums_of_pairs_plain(a, b);
    for (int i = 0; i < 4; ++i) BOOST_TEST(sums[i] == plain[i]);
    BOOST_TEST(sums[0] == -300);
    const four_integers c = {-1, 0, 255, 256}, d = {70000, -70000, 128, 1}, e = {5, 6, 7, 8}, f = {9, 10, 11, 1 << 30};
    const sixteen_bytes packed = pack(c, d, e, f), expected = pack_plain(c, d, e, f);
    for (int i = 0; i < 16; ++i) BOOST_TEST(packed[i] == expected[i]);
    BOOST_TEST(packed[3] == 255);
}

// Bytes do not depend on the processor.
BOOST_AUTO_TEST_CASE(vectors_of_both_widths_give_the_same) {
    if (!data::image::detail::has_avx2()) return;
    for (std::size_t channels = 1; channels <= 4; ++channels)
        for (const auto& [from_height, from_width] : {std::pair<std::size_t, std::size_t>{1, 1}, {3, 2}, {50, 61}})
            for (const auto& [height, width] : {std::pair<std::size_t, std::size_t>{1, 1}, {7, 5}, {30, 90}, {70, 16}})
                for (const auto filter : {interpolation::bilinear, interpolation::bicubic}) {
                    const data::bitmap in = hashed(from_height, from_width, channels);
                    data::bitmap wide, narrow;
                    data::image::detail::resize_by(true, in, height, width, wide, filter);
                    data::image::detail::resize_by(false, in, height, width, narrow, filter);
                    BOOST_REQUIRE(wide.bytes == narrow.bytes);
                }
}
