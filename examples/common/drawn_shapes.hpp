// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/io/make_folders.hpp>
#include <png.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace example {

inline constexpr std::array shapes{"cross", "disc", "ring", "square", "triangle"};

/// Whether a point is within a shape that reaches from -1 to 1.
inline bool within_shape(std::size_t shape, float x, float y) {
    const float far = std::hypot(x, y), wide = std::abs(x), high = std::abs(y);
    switch (shape) {
    case 0: return std::min(wide, high) < 0.3f && std::max(wide, high) < 1;
    case 1: return far < 0.9f;
    case 2: return far < 1 && far > 0.55f;
    case 3: return std::max(wide, high) < 0.8f;
    default: return y < 0.7f && y > 2 * wide - 1;
    }
}

/// A colour photograph of sorts, 40 x 48: a bright shape on a dark ground, somewhere, turned, and with noise.
inline std::vector<png_byte> drawn_shape(std::size_t shape, sinter::random_stream& random) {
    constexpr int height = 40, width = 48;
    const float size = random.uniform(10, 16), turn = random.uniform(-0.4f, 0.4f);
    const float top = 20 + random.uniform(-4, 4), left = 24 + random.uniform(-8, 8);
    float ground[3], ink[3];
    for (int c = 0; c < 3; ++c) ground[c] = random.uniform(10, 100), ink[c] = random.uniform(120, 240);
    std::vector<png_byte> bytes;
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
            const float x = (static_cast<float>(column) - left) / size, y = (static_cast<float>(row) - top) / size;
            const float cosine = std::cos(turn), sine = std::sin(turn);
            const bool within = within_shape(shape, cosine * x + sine * y, cosine * y - sine * x);
            for (int c = 0; c < 3; ++c) 
                bytes.push_back(static_cast<png_byte>((within ? ink : ground)[c] + random.uniform(-10, 10)));
        }
    return bytes;
}

/// Writes `each` pictures of every shape as PNG files, FOLDER/disc/0.png and so on; the same for one seed. io_error
/// where that cannot be.
inline void write_drawn_shapes(const std::string& folder, int each, std::uint64_t seed) {
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
        const std::string own = folder + '/' + shapes[shape];
        sinter::io::make_folders(own);
        for (int i = 0; i < each; ++i) {
            sinter::random_stream random(sinter::base::stream(seed, sinter::base::fnv1a(own)),
                                         static_cast<std::uint64_t>(i));
            png_image image{};
            image.version = PNG_IMAGE_VERSION;
            image.height = 40;
            image.width = 48;
            image.format = PNG_FORMAT_RGB;
            const std::string file = own + '/' + std::to_string(i) + ".png";
            if (!png_image_write_to_file(&image, file.c_str(), 0, drawn_shape(shape, random).data(), 0, nullptr))
                throw sinter::io_error("cannot write", file, image.message);
        }
    }
}

} // namespace example
