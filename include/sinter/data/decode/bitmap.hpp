// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Pictures as files have them: bytes, 0 to 255. (io/image.hpp has one of grey floats, 0 to 1.)
namespace sinter::inline SINTER_ORDINARY::data {

/// A picture of 8-bit channels. `bytes` has height * width * channels of them, row by row from the top, the channels of
/// a pixel side by side (HWC). One channel is grey, two are grey and alpha, three red, green and blue, four these and
/// alpha.
struct bitmap {
    std::size_t height = 0, width = 0, channels = 0;
    std::vector<std::uint8_t> bytes;

    /// Takes these extents. What the bytes are afterwards is unspecified; no memory is asked for where there is enough.
    void reshape(std::size_t h, std::size_t w, std::size_t c) {
        bytes.resize(h * w * c);
        height = h, width = w, channels = c;
    }
};

/// Such a picture whose bytes somebody else keeps.
struct bitmap_view {
    std::size_t height = 0, width = 0, channels = 0;
    const std::uint8_t* bytes = nullptr;

    bitmap_view() = default;
    bitmap_view(std::size_t h, std::size_t w, std::size_t c, const std::uint8_t* first)
        : height(h), width(w), channels(c), bytes(first) {}
    bitmap_view(const bitmap& p) : bitmap_view(p.height, p.width, p.channels, p.bytes.data()) {}

    std::size_t row_bytes() const { return width * channels; }
    const std::uint8_t* row(std::size_t y) const { return bytes + y * row_bytes(); }
};

/// The channels of one pixel, for what is filled with one colour; those that a picture has not are not looked at.
struct pixel {
    std::uint8_t channel[4] = {};
};

} // namespace sinter::data
