// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes are refused with format_error or read into width * height values from 0 to 1.
#include "message.hpp"
#include <sinter/io/pgm.hpp>

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    try {
        const io::grey_image read = io::parse_pgm(std::as_bytes(std::span(data, size)), "fuzz");
        if (read.width == 0 || read.height == 0 || read.pixels.size() != read.width * read.height) std::abort();
        for (const float pixel : read.pixels)
            if (!(pixel >= 0.0f && pixel <= 1.0f)) std::abort();
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
