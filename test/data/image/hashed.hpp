// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/decode/bitmap.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

/// The picture of test/fixtures/pictures.py: no two neighbours are alike.
inline sinter::data::bitmap hashed(std::size_t height, std::size_t width, std::size_t channels) {
    sinter::data::bitmap picture;
    picture.reshape(height, width, channels);
    for (std::size_t y = 0, i = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x)
            for (std::size_t c = 0; c < channels; ++c)
                picture.bytes[i++] = static_cast<std::uint8_t>(x * 37 + y * 101 + c * 59 + (x * y * 13 >> 3));
    return picture;
}

/// The largest difference between the picture's bytes and these; 256 where they are not as many.
inline int difference(const sinter::data::bitmap& picture, sinter::span<const std::uint8_t> bytes) {
    if (picture.bytes.size() != bytes.size() ||
        bytes.size() != picture.height * picture.width * picture.channels)
        return 256;
    int most = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) most = std::max(most, std::abs(picture.bytes[i] - bytes[i]));
    return most;
}

/// What is at a place.
inline int at(const sinter::data::bitmap& p, std::size_t y, std::size_t x, std::size_t c) {
    return p.bytes.at((y * p.width + x) * p.channels + c);
}

/// The bytes of a picture's file in test/fixtures/pictures.hpp, without the 0 that ends each literal.
template <std::size_t N>
std::vector<std::byte> file_of(const char (&text)[N]) {
    std::vector<std::byte> bytes(N - 1);
    std::memcpy(bytes.data(), text, N - 1);
    return bytes;
}
