// SPDX-License-Identifier: BSL-1.0
// A program that reads PNG files, and so needs sinter::png.
#include <sinter/io/png.hpp>
#include <cstdio>

int main(int, char** argv) {
    const sinter::io::grey_image picture = sinter::io::read_png(argv[1]);
    std::printf("read %zu x %zu pixels\n", static_cast<std::size_t>(picture.width),
                static_cast<std::size_t>(picture.height));
    return picture.width == 28 && picture.height == 28 ? 0 : 1;
}
