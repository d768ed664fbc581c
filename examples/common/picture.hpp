// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/atomic_write.hpp>
#include <string>
#include <vector>

namespace example {

/// Many small grey images, [n, side, side] floats in [0, 1], as one picture with `columns` in a
/// row: a PGM file, which most image viewers show. io_error where it cannot be written.
inline void write_picture(const std::string& path, const std::vector<float>& images, int side, int columns) {
    const int n = static_cast<int>(images.size()) / (side * side), rows = (n + columns - 1) / columns;
    const int width = columns * side, height = rows * side;
    std::string bytes(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), '\0');
    for (int i = 0; i < n; ++i)
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x) {
                const float v = images[static_cast<std::size_t>((i * side + y) * side + x)];
                const float grey = v < 0 ? 0 : v > 1 ? 255 : 255 * v + 0.5f;
                bytes[static_cast<std::size_t>((i / columns * side + y) * width + i % columns * side + x)] =
                    static_cast<char>(static_cast<unsigned char>(grey));
            }
    const std::string head = "P5 " + std::to_string(width) + ' ' + std::to_string(height) + " 255\n";
    sinter::io::atomic_write(path, [&](sinter::io::output_file& file) { file.write(head + bytes); });
}

} // namespace example
