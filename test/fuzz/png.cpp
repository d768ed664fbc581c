// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// needs: png
// libFuzzer target: any bytes are refused with format_error or are a picture. Chunks' checksums are
// made right as well, for no mutation would get beyond them.
#include "message.hpp"
#include <sinter/data/decode/png.hpp>
#include <sinter/io/png.hpp>

#include <cstdlib>
#include <zlib.h>

using namespace sinter;

static void read_bytes(const std::vector<std::byte>& bytes, data::colours to) {
    try {
        const data::decode_options options{.to = to, .max_pixels = 1 << 24};
        const data::bitmap p = data::decode_png({bytes.data(), bytes.size()}, "fuzz", options);
        if (p.height < 1 || p.width < 1 || p.channels < 1 || p.channels > 4) std::abort();
        if (p.bytes.size() != p.height * p.width * p.channels) std::abort();
    } catch (const format_error& e) {
        must_be_fit(e);
    }
}
static void read(const std::vector<std::byte>& bytes) {
    read_bytes(bytes, data::colours::as_stored);
    read_bytes(bytes, data::colours::grey);
    try {
        const io::grey_image picture = io::parse_png({bytes.data(), bytes.size()}, "fuzz");
        if (picture.width < 1 || picture.height < 1) std::abort();
        if (picture.pixels.size() != std::size_t{picture.width} * picture.height) std::abort();
        for (const float v : picture.pixels)
            if (!(v >= 0.f && v <= 1.f)) std::abort();
    } catch (const format_error& e) {
        must_be_fit(e);
    }
}
/// Length, type, data, checksum over the middle two.
static void mend_checksums(std::vector<std::byte>& bytes) {
    auto* const p = reinterpret_cast<unsigned char*>(bytes.data());
    for (std::size_t at = 8; at + 12 <= bytes.size();) {
        const std::size_t length = std::size_t{p[at]} << 24 | std::size_t{p[at + 1]} << 16 |
            std::size_t{p[at + 2]} << 8 | p[at + 3];
        if (length > bytes.size() - at - 12) return;
        const unsigned long sum = crc32(0, p + at + 4, static_cast<unsigned>(length + 4));
        for (std::size_t i = 0; i < 4; ++i) p[at + 8 + length + i] = static_cast<unsigned char>(sum >> (24 - 8 * i));
        at += 12 + length;
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (size > 0) std::memcpy(bytes.data(), data, size);
    read(bytes);
    mend_checksums(bytes);
    read(bytes);
    return 0;
}
