// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// needs: jpeg
// libFuzzer target: any bytes are refused with format_error or are a picture. Its length chooses the channels.
#include "message.hpp"
#include <sinter/data/decode/jpeg.hpp>

#include <cstdlib>

using namespace sinter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr data::colours to[] = {data::colours::as_stored, data::colours::grey, data::colours::rgb};
    // Fewer pixels than by default: a picture of which little is there is made all the same, and takes its time.
    const data::decode_options options{.to = to[size % 3], .max_pixels = 1 << 20, .max_scans = 20};
    try {
        const data::bitmap p = data::decode_jpeg({reinterpret_cast<const std::byte*>(data), size}, "fuzz", options);
        if (p.height < 1 || p.width < 1 || (p.channels != 1 && p.channels != 3)) std::abort();
        if (p.height * p.width > options.max_pixels) std::abort();
        if (p.bytes.size() != p.height * p.width * p.channels) std::abort();
        if (options.to != data::colours::as_stored && (p.channels == 1) != (options.to == data::colours::grey))
            std::abort();
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
