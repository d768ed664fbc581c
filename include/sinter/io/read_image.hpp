// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/pgm.hpp>
#include <sinter/io/png.hpp>

namespace sinter::inline SINTER_ORDINARY::io {

/// Reads a picture, PNG or PGM, whichever its first bytes say; errors are those of parse_png and
/// parse_pgm.
inline grey_image read_image(const std::string& path) {
    const std::vector<std::byte> bytes = read_whole_file(path);
    const bool is_png = bytes.size() >= 4 && std::memcmp(bytes.data(), "\x89PNG", 4) == 0;
    return is_png ? parse_png(bytes, path) : parse_pgm(bytes, path);
}

} // namespace sinter::io
