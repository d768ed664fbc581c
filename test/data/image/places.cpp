// SPDX-License-Identifier: BSL-1.0
// Parts of pictures, margins, mirrors, turns, and what hides a part.
#define BOOST_TEST_MODULE data_image_places
#include "data/image/hashed.hpp"
#include "fixtures/pictures.hpp"
#include "io/error_parts.hpp"

#include <sinter/data/image/crop.hpp>
#include <sinter/data/image/cutout.hpp>
#include <sinter/data/image/flip.hpp>
#include <sinter/data/image/pad.hpp>
#include <sinter/data/image/rotate.hpp>
#include <cmath>

using namespace sinter;
using data::bitmap;
using data::image::window;

BOOST_AUTO_TEST_CASE(a_part_has_the_pixels_of_its_place) {
    for (std::size_t channels = 1; channels <= 4; ++channels) {
        const bitmap in = hashed(9, 11, channels);
        bitmap out;
        data::image::crop(in, {2, 3, 4, 5}, out);
        BOOST_TEST((out.height == 4 && out.width == 5 && out.channels == channels));
        for (std::size_t y = 0; y < 4; ++y)
            for (std::size_t x = 0; x < 5; ++x)
                for (std::size_t c = 0; c < channels; ++c) BOOST_TEST(at(out, y, x, c) == at(in, y + 2, x + 3, c));
        data::image::crop(in, {0, 0, 9, 11}, out);
        BOOST_TEST((out.bytes == in.bytes));
    }
    const bitmap in = hashed(9, 11, 3);
    bitmap out;
    BOOST_TEST(at(data::image::center_crop(in, 4, 4), 0, 0, 1) == at(in, 2, 3, 1));
    for (const window part : {window{0, 0, 10, 1}, {6, 0, 4, 1}, {0, 0, 1, 0}, {0, 11, 1, 1}, {SIZE_MAX, 0, 2, 1}})
        BOOST_CHECK_THROW(data::image::crop(in, part, out), data_error);
    check_error<data_error>([&] { data::image::center_window(in, 10, 3); }, "larger", "center_window", "10 x 3",
                            "9 x 11");
}

BOOST_AUTO_TEST_CASE(random_parts_are_anywhere_and_the_same_for_the_same_key) {
    const bitmap in = hashed(6, 9, 1);
    int tops[4] = {}, lefts[3] = {};
    for (std::uint64_t key = 0; key < 6000; ++key) {
        random_stream random(key), again(key);
        const window w = data::image::random_window(in, 3, 7, random);
        const window same = data::image::random_window(in, 3, 7, again);
        BOOST_REQUIRE((w.top <= 3 && w.left <= 2 && w.height == 3 && w.width == 7));
        BOOST_REQUIRE((w.top == same.top && w.left == same.left));
        ++tops[w.top], ++lefts[w.left];
    }
    for (const int n : tops) BOOST_TEST(std::abs(n - 1500) < 200);    // six deviations
    for (const int n : lefts) BOOST_TEST(std::abs(n - 2000) < 220);
    random_stream random(1);
    check_error<data_error>([&] { data::image::random_window(in, 7, 1, random); }, "larger", "random_window");
}

BOOST_AUTO_TEST_CASE(parts_of_random_size_and_shape) {
    const bitmap in = hashed(375, 500, 1);
    double shares = 0, logarithms = 0;
    int narrow = 0;
    constexpr int n = 4000;
    for (std::uint64_t key = 0; key < n; ++key) {
        random_stream random(key);
        const window w = data::image::random_resized_window(in, random, 0.08, 0.5);
        BOOST_REQUIRE((w.height > 0 && w.width > 0 && w.top + w.height <= 375 && w.left + w.width <= 500));
        const double height = static_cast<double>(w.height), width = static_cast<double>(w.width);
        BOOST_REQUIRE((height * width / (375.0 * 500) > 0.078 && height * width / (375.0 * 500) < 0.503));
        BOOST_REQUIRE((width / height > 0.74 && width / height < 1.35));
        shares += height * width / (375.0 * 500), logarithms += std::log(width / height);
        narrow += width < height;
    }
    BOOST_TEST(std::abs(shares / n - 0.29) < 0.01);   // the middle of 0.08 and 0.5
    BOOST_TEST(std::abs(logarithms / n) < 0.02);
    BOOST_TEST(std::abs(narrow - n / 2) < 200);
    // No such part fits into a strip: what fits best, in the middle.
    random_stream random(3);
    const bitmap strip = hashed(2, 100, 1);
    const window w = data::image::random_resized_window(strip, random, 0.9, 1);
    BOOST_TEST((w.top == 0 && w.height == 2 && w.width == 3 && w.left == 48));
    const bitmap tower = hashed(100, 2, 1);
    const window high = data::image::random_resized_window(tower, random, 0.9, 1);
    BOOST_TEST((high.left == 0 && high.width == 2 && high.height == 3 && high.top == 48));
    check_error<option_error>([&] { data::image::random_resized_window(in, random, 0, 1); }, "bounds",
                              "random_resized_window");
    check_error<option_error>([&] { data::image::random_resized_window(in, random, 0.1, 1, 2, 1); }, "bounds",
                              "random_resized_window");
}

BOOST_AUTO_TEST_CASE(margins_have_one_colour) {
    const bitmap in = hashed(2, 3, 3);
    bitmap out;
    data::image::pad(in, {1, 2, 3, 4}, {{7, 8, 9}}, out);
    BOOST_TEST((out.height == 6 && out.width == 9));
    for (std::size_t y = 0; y < 6; ++y)
        for (std::size_t x = 0; x < 9; ++x)
            for (std::size_t c = 0; c < 3; ++c) {
                const bool inside = y >= 1 && y < 3 && x >= 2 && x < 5;
                BOOST_TEST(at(out, y, x, c) == (inside ? at(in, y - 1, x - 2, c) : 7 + static_cast<int>(c)));
            }
}

BOOST_AUTO_TEST_CASE(mirrored_pictures) {
    for (std::size_t channels = 1; channels <= 4; ++channels)
        for (const std::size_t height : {1u, 4u, 5u}) {
            const bitmap in = hashed(height, 7, channels);
            bitmap across = in, down = in;
            data::image::flip_horizontal(across);
            data::image::flip_vertical(down);
            for (std::size_t y = 0; y < height; ++y)
                for (std::size_t x = 0; x < 7; ++x)
                    for (std::size_t c = 0; c < channels; ++c) {
                        BOOST_TEST(at(across, y, x, c) == at(in, y, 6 - x, c));
                        BOOST_TEST(at(down, y, x, c) == at(in, height - 1 - y, x, c));
                    }
        }
    bitmap none;
    BOOST_CHECK_THROW(data::image::flip_horizontal(none), data_error);
    BOOST_CHECK_THROW(data::image::flip_vertical(none), data_error);
}

BOOST_AUTO_TEST_CASE(turned_pictures_beside_torchvision) {
    const bitmap in = hashed(17, 23, 3);
    bitmap out;
    data::pixel fill;
    data::image::rotate(in, 90, fill, out);
    BOOST_TEST(difference(out, pictures::rotated_90) == 0);
    data::image::rotate(in, 30, fill, out);
    BOOST_TEST(difference(out, pictures::rotated_30) <= 1);
    data::image::rotate(in, -17.5, fill, out);
    BOOST_TEST(difference(out, pictures::rotated_minus_17_5) <= 1);
    data::image::rotate(in, 360, fill, out);
    BOOST_TEST((out.bytes == in.bytes));
    // What is not picture is fill: in a picture of one colour, which is not filled, it is what that colour lacks.
    bitmap white = in, rest;
    std::fill(white.bytes.begin(), white.bytes.end(), std::uint8_t{200});
    data::image::rotate(white, 30, fill, rest);
    fill = {{200, 200, 100}};
    data::image::rotate(white, 30, fill, out);
    for (std::size_t i = 0; i < out.bytes.size(); i += 3) {
        BOOST_TEST((out.bytes[i] == 200 && out.bytes[i + 1] == 200));
        BOOST_TEST(std::abs(out.bytes[i + 2] - (rest.bytes[i] + (200 - rest.bytes[i]) / 2)) <= 1);
    }
    const bitmap square = hashed(8, 8, 2);
    data::image::rotate(square, 90, fill, out);   // the right column becomes the top row
    for (std::size_t i = 0; i < 8; ++i) BOOST_TEST(at(out, 0, i, 1) == at(square, i, 7, 1));
    check_error<option_error>([&] { data::image::rotate(in, NAN, fill, out); }, "no number", "rotate");
}

BOOST_AUTO_TEST_CASE(hidden_squares) {
    const bitmap in = hashed(8, 12, 3);
    int whole = 0;
    for (std::uint64_t key = 0; key < 2000; ++key) {
        random_stream random(key), again(key);
        const window w = data::image::cutout_window(in, 4, random);
        const std::size_t y = again.below(8), x = again.below(12);   // of the middle
        BOOST_REQUIRE(w.top == (y < 2 ? 0 : y - 2));
        BOOST_REQUIRE(w.left == (x < 2 ? 0 : x - 2));
        BOOST_REQUIRE(w.top + w.height == std::min<std::size_t>(y + 2, 8));
        BOOST_REQUIRE(w.left + w.width == std::min<std::size_t>(x + 2, 12));
        whole += w.height == 4 && w.width == 4;
        bitmap out = in;
        data::image::cutout(out, w, {{1, 2, 3}});
        for (std::size_t i = 0; i < 8; ++i)
            for (std::size_t j = 0; j < 12; ++j) {
                const bool inside = i >= w.top && i < w.top + w.height && j >= w.left && j < w.left + w.width;
                if (at(out, i, j, 2) != (inside ? 3 : at(in, i, j, 2)))
                    BOOST_ERROR("another pixel at " << i << ' ' << j);
            }
    }
    BOOST_TEST(std::abs(whole - 2000 * 5 * 9 / 96) < 150);
    bitmap out = in;
    BOOST_CHECK_THROW(data::image::cutout(out, {0, 9, 8, 4}, {}), data_error);
    random_stream random(1);
    BOOST_CHECK_THROW(data::image::cutout_window(in, 0, random), option_error);
    const window all = data::image::cutout_window(in, 1000, random);
    BOOST_TEST((all.top == 0 && all.left == 0 && all.height == 8 && all.width == 12));
}
