// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE drawn_digits
#include <boost/test/unit_test.hpp>
#include <sinter/data/source/drawn_digits.hpp>
#include <algorithm>

using namespace sinter;

BOOST_AUTO_TEST_CASE(the_same_seed_draws_the_same_digits_and_more_only_adds) {
    const auto few = data::drawn_digits(20, 5), many = data::drawn_digits(40, 5), other = data::drawn_digits(20, 6);
    BOOST_TEST(std::equal(few.x().begin(), few.x().end(), many.x().begin()));
    BOOST_TEST(std::equal(few.labels().begin(), few.labels().end(), many.labels().begin()));
    BOOST_TEST(!std::equal(few.x().begin(), few.x().end(), other.x().begin()));
}

BOOST_AUTO_TEST_CASE(images_are_in_range_and_every_class_appears) {
    const auto set = data::drawn_digits(1000, 1);
    BOOST_TEST((set.columns()[0].row == extents(28, 28, 1)));
    const auto [low, high] = std::minmax_element(set.x().begin(), set.x().end());
    BOOST_TEST(*low >= 0.0f);
    BOOST_TEST(*high <= 1.0f);
    for (int digit = 0; digit < 10; ++digit) {
        const auto n = std::count(set.labels().begin(), set.labels().end(), digit);
        BOOST_TEST(n > 60);
        BOOST_TEST(n < 140);
    }
    BOOST_CHECK_THROW(data::drawn_digits(-1), data_error);
    BOOST_TEST(data::drawn_digits(0).size() == 0);
}

BOOST_AUTO_TEST_CASE(a_pen_leaves_ink_near_its_line_only) {
    std::vector<float> image(28 * 28);
    data::ink(image.data(), {5, 10.5f}, {20, 10.5f}, 1.0f, 0.75f);
    const auto at = [&](int x, int y) { return image[static_cast<std::size_t>(y * 28 + x)]; };
    BOOST_TEST(at(12, 10) == 0.75f);
    BOOST_TEST(at(12, 11) == 0.375f);   // one pixel off the axis: half covered by the soft edge
    BOOST_TEST(at(12, 13) == 0.0f);
    BOOST_TEST(at(25, 10) == 0.0f);
    data::ink(image.data(), {-50, -50}, {80, 80}, 1.0f, 1.0f);   // beyond the image: clipped
    BOOST_TEST(at(14, 14) == 1.0f);
}
