// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes are refused with format_error or read; what is read has the bytes
// that its extents say, and survives being written and read again.
#include "message.hpp"
#include <sinter/io/npy.hpp>

#include <cstdlib>
#include <span>

namespace npy = sinter::npy;

static void require(bool holds) {
    if (!holds) std::abort();
}
static npy::array parse(std::span<const std::byte> bytes) {
    sinter::io::memory_source in(bytes, "fuzz");
    return npy::parse(in);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const npy::array a = parse(std::as_bytes(std::span(data, size)));
        require(a.bytes.span().size() == npy::bytes_of(a.type, a.shape, "read"));
        std::string written = npy::encode_header(a.type, a.shape);
        require(written.size() % 64 == 0);
        written.append(reinterpret_cast<const char*>(a.bytes.span().data()), a.bytes.span().size());
        const npy::array again = parse(std::as_bytes(std::span(std::as_const(written))));
        require(again.type == a.type && again.shape == a.shape &&
                std::ranges::equal(again.bytes.span(), a.bytes.span()));
    } catch (const sinter::format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
