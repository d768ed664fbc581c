// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes, plain or gzip, are refused with format_error or read into as many bytes as the extents
// say.
#include "message.hpp"
#include <sinter/io/idx.hpp>

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    try {
        io::memory_source source(std::as_bytes(std::span(data, size)), "fuzz");
        const io::idx_array read = io::parse_idx(source);
        const auto elements = io::checked_product(read.extents);
        if (!elements || *elements * io::idx_type_bytes(read.type) != read.bytes.size()) std::abort();
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
