// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/decode/jpeg.hpp>
#include <sinter/data/decode/png.hpp>

/// JPEG or PNG (CMake: sinter::jpeg and sinter::png).
namespace sinter::inline SINTER_ORDINARY::data {

/// Decodes a JPEG or a PNG, whichever its first bytes say, into `out`, whose memory is used again; throws format_error
/// where they say neither, and as decode_jpeg and decode_png do.
inline void decode_picture(span<const std::byte> bytes, std::string_view name, bitmap& out,
                           const decode_options& options = {}) {
    const auto starts = [&](std::string_view with) {
        return bytes.size() >= with.size() && std::memcmp(bytes.data(), with.data(), with.size()) == 0;
    };
    if (starts("\xff\xd8\xff")) decode_jpeg(bytes, name, out, options);
    else if (starts("\x89PNG")) decode_png(bytes, name, out, options);
    else throw format_error("not a picture that can be read", name, {}, "a JPEG or a PNG");
}

/// The same as a value.
inline bitmap decode_picture(span<const std::byte> bytes, std::string_view name, const decode_options& options = {}) {
    bitmap out;
    decode_picture(bytes, name, out, options);
    return out;
}

/// Reads the JPEG or PNG file at `path`; throws io_error where it cannot be read, and as decode_picture does.
inline bitmap read_picture(const std::string& path, const decode_options& options = {}) {
    return decode_picture(io::read_whole_file(path), path, options);
}

} // namespace sinter::data
