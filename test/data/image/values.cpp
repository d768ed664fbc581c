// SPDX-License-Identifier: BSL-1.0
// Channels, colours, normalized floats and mixtures.
#define BOOST_TEST_MODULE data_image_values
#include "data/image/hashed.hpp"
#include "fixtures/pictures.hpp"
#include "io/error_parts.hpp"

#include <sinter/data/image/channels.hpp>
#include <sinter/data/image/colour.hpp>
#include <sinter/data/image/mixup.hpp>
#include <sinter/data/image/normalize.hpp>
#include <cmath>
#include <cstring>

using namespace sinter;
using data::bitmap;

BOOST_AUTO_TEST_CASE(grey_and_rgb) {
    for (std::size_t channels = 1; channels <= 4; ++channels) {
        const bitmap in = hashed(5, 7, channels);
        bitmap grey = in, rgb = in;
        data::image::to_grey(grey);
        data::image::to_rgb(rgb);
        BOOST_TEST((grey.channels == 1 && grey.bytes.size() == 35 && rgb.channels == 3 && rgb.bytes.size() == 105));
        for (std::size_t y = 0; y < 5; ++y)
            for (std::size_t x = 0; x < 7; ++x) {
                const bool colours = channels >= 3;
                const int first = at(in, y, x, 0);
                const double luma = colours ? 0.299 * first + 0.587 * at(in, y, x, 1) + 0.114 * at(in, y, x, 2) : first;
                BOOST_TEST(std::abs(at(grey, y, x, 0) - luma) < 0.502);
                for (std::size_t c = 0; c < 3; ++c) BOOST_TEST(at(rgb, y, x, c) == at(in, y, x, colours ? c : 0));
            }
    }
    bitmap none;
    BOOST_CHECK_THROW(data::image::to_grey(none), data_error);
    BOOST_CHECK_THROW(data::image::to_rgb(none), data_error);
}

BOOST_AUTO_TEST_CASE(colours_beside_torchvision) {
    const bitmap in = hashed(17, 23, 3);
    const auto check = [&](auto function, double factor, span<const std::uint8_t> want, const char* name) {
        bitmap out = in;
        function(out, factor);
        BOOST_TEST(difference(out, want) <= 1, name << " by " << factor << " differs by " << difference(out, want));
    };
    namespace image = data::image;
    const auto brightness = [](bitmap& p, double f) { image::adjust_brightness(p, f); };
    const auto contrast = [](bitmap& p, double f) { image::adjust_contrast(p, f); };
    const auto saturation = [](bitmap& p, double f) { image::adjust_saturation(p, f); };
    const auto hue = [](bitmap& p, double f) { image::adjust_hue(p, f); };
    check(brightness, 0.4, pictures::brightness_low, "brightness");
    check(brightness, 1.7, pictures::brightness_high, "brightness");
    check(contrast, 0.3, pictures::contrast_low, "contrast");
    check(contrast, 1.8, pictures::contrast_high, "contrast");
    check(saturation, 0, pictures::saturation_low, "saturation");
    check(saturation, 1.9, pictures::saturation_high, "saturation");
    check(hue, 0.1, pictures::hue_low, "hue");
    check(hue, -0.4, pictures::hue_high, "hue");
    for (const auto& same : {+brightness, +contrast, +saturation}) check(same, 1, in.bytes, "nothing");
    check(hue, 0, in.bytes, "nothing");
}

BOOST_AUTO_TEST_CASE(colours_of_grey_pictures_and_refusals) {
    namespace image = data::image;
    const bitmap in = hashed(4, 5, 1);
    bitmap out = in;
    image::adjust_saturation(out, 0.3);
    image::adjust_hue(out, 0.3);
    BOOST_TEST((out.bytes == in.bytes));
    image::adjust_contrast(out, 0);
    double mean = 0;
    for (const std::uint8_t byte : in.bytes) mean += byte / 20.0;
    for (const std::uint8_t byte : out.bytes) BOOST_TEST(byte == static_cast<int>(mean));
    out = hashed(4, 5, 4);
    check_error<data_error>([&] { image::adjust_brightness(out, 1); }, "channels", "adjust_brightness", "4", "1 or 3");
    out = hashed(4, 5, 3);
    check_error<option_error>([&] { image::adjust_contrast(out, -1); }, "factor", "adjust_contrast", "", "0 or more");
    check_error<option_error>([&] { image::adjust_saturation(out, NAN); }, "factor", "adjust_saturation");
    check_error<option_error>([&] { image::adjust_hue(out, 0.6); }, "shift", "adjust_hue", "", "-0.5 to 0.5");
}

BOOST_AUTO_TEST_CASE(normalized_as_pytorch_does) {
    const bitmap in = hashed(3, 4, 3);
    // hashed(17, 23, 3) begins each row with the same pixels
    const data::image::normalization to_floats({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f});
    std::vector<float> out(36);
    to_floats(in, out);
    for (std::size_t i = 0; i < 36; ++i) BOOST_TEST(out[i] == static_cast<float>(pictures::normalized[i]));
    const data::image::normalization one({0.5f}, {0.25f});
    const bitmap grey = hashed(2, 3, 1);
    std::vector<float> six(6);
    one(grey, six);
    for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(six[i] == (static_cast<float>(grey.bytes[i]) / 255 - 0.5f) / 0.25f);
    check_error<data_error>([&] { one(in, out); }, "channels", "normalization", "3", "1");
    check_error<data_error>([&] { to_floats(in, six); }, "room", "normalization", "6 floats", "36");
    BOOST_CHECK_THROW(data::image::normalization({0.5f}, {0.0f}), option_error);
    BOOST_CHECK_THROW(data::image::normalization({NAN}, {1.0f}), option_error);
}

// Of Beta(1, 1) every share is as likely; of Beta(1/2, 1/2) the arcsine law says how many are below x: 2 / pi asin
// sqrt x. Others by their mean and variance.
BOOST_AUTO_TEST_CASE(shares_of_mixtures_are_beta_distributed) {
    constexpr int n = 20'000;
    for (const double alpha : {0.01, 0.2, 0.5, 1.0, 3.0, 100.0}) {
        BOOST_TEST_CONTEXT("alpha " << alpha) {
            double sum = 0, squares = 0;
            int below[9] = {};
            for (int key = 0; key < n; ++key) {
                random_stream random(static_cast<std::uint64_t>(key)), again(static_cast<std::uint64_t>(key));
                const float share = data::image::mixup_share(random, alpha);
                BOOST_REQUIRE((share >= 0 && share <= 1 && share == data::image::mixup_share(again, alpha)));
                sum += share, squares += (share - 0.5) * (share - 0.5);
                for (int i = 0; i < 9; ++i) below[i] += share < 0.1 * (i + 1);
            }
            const double variance = 1 / (4 * (2 * alpha + 1));
            BOOST_TEST(std::abs(sum / n - 0.5) < 5 * std::sqrt(variance / n));
            BOOST_TEST(std::abs(squares / n / variance - 1) < 0.06);
            for (int i = 0; i < 9 && (alpha == 1 || alpha == 0.5); ++i) {
                const double x = 0.1 * (i + 1), want = alpha == 1 ? x : 2 / M_PI * std::asin(std::sqrt(x));
                BOOST_TEST(std::abs(below[i] / static_cast<double>(n) - want) < 0.018);   // five deviations
            }
        }
    }
    random_stream random(1);
    BOOST_CHECK_THROW(data::image::mixup_share(random, 0), option_error);
    BOOST_CHECK_THROW(data::image::mixup_share(random, NAN), option_error);
}

BOOST_AUTO_TEST_CASE(mixtures) {
    const float a[] = {1, 2, 3}, b[] = {-1, 0, 9};
    float out[3];
    data::image::mixup(a, b, 0.25f, out);
    BOOST_TEST((out[0] == -0.5f && out[1] == 0.5f && out[2] == 7.5f));
    float own[] = {1, 2, 3};
    data::image::mixup(own, b, 1, own);
    BOOST_TEST((own[0] == 1 && own[1] == 2 && own[2] == 3));
    check_error<data_error>([&] { data::image::mixup(a, b, 0.5f, span<float>(out, 2)); }, "lengths", "mixup",
                            "3, 3 and 2");
    BOOST_CHECK_THROW(data::image::mixup(a, b, 1.5f, out), option_error);
}
