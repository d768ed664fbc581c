// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes are refused with format_error or read as arrays that have the bytes
// that their extents say. Checksums rarely hold for random changes, so that what stands behind them
// is tried directly as well.
#include "message.hpp"
#include <sinter/io/npz.hpp>

#include <cstdlib>
#include <span>

namespace npz = sinter::npz;

static void require(bool holds) {
    if (!holds) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto lies_inside = [&](std::span<const std::byte> part) {
        return part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + size;
    };
    try {
        for (const npz::member& m : npz::read_directory(bytes, "fuzz")) {
            require(lies_inside(m.packed));
            if (m.how == npz::method::deflated) try {
                require(npz::detail::inflated(m.packed, m.size, "fuzz").span().size() == m.size);
            } catch (const sinter::format_error& e) {
                must_be_fit(e);
            }
        }
        for (const auto& [name, tensor] : npz::parse(bytes, "fuzz").tensors)
            require(tensor.data.size() == sinter::npy::bytes_of(tensor.type, tensor.shape, name));
    } catch (const sinter::format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
