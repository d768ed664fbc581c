// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/crc32c.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/tfrecord/place.hpp>
#include <bit>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::tfrecord::detail {

template <class N>
N little(const std::byte* at) {
    N n;
    std::memcpy(&n, at, sizeof n);
    if constexpr (std::endian::native == std::endian::big)
        n = sizeof n == 8 ? static_cast<N>(__builtin_bswap64(n))
                          : static_cast<N>(__builtin_bswap32(static_cast<std::uint32_t>(n)));
    return n;
}
template <class N>
void put_little(std::byte* at, N n) {
    for (std::size_t i = 0; i < sizeof n; ++i) at[i] = static_cast<std::byte>(n >> 8 * i & 0xff);
}

/// Whether the 12 bytes before a record hold their CRC.
inline bool head_holds(const std::byte* head) {
    return base::masked_crc32c({head, 8}) == little<std::uint32_t>(head + 8);
}
[[noreturn]] SINTER_APART SINTER_COLD void refuse_head(const place& where, const std::byte* head);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_data(const place& where, span<const std::byte> data,
                                                       std::uint32_t crc);
/// A record that ends beyond the file.
[[noreturn]] SINTER_APART SINTER_COLD void refuse_end(const place& where, std::uint64_t left, std::uint64_t needed,
                                                      std::string_view for_what);
[[noreturn]] SINTER_APART SINTER_COLD void refuse_size(const place& where, std::uint64_t bytes, std::uint64_t most);

#if SINTER_BODIES
template <class = void>
SINTER_COLD inline std::string crc_text(std::uint32_t crc) {
    std::string text = "CRC 0x";
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[crc >> shift & 15];
    return text;
}

SINTER_APART void refuse_head(const place& where, const std::byte* head) {
    throw format_error("corrupted record", where.text(),
                       crc_text(little<std::uint32_t>(head + 8)) + " of its length",
                       crc_text(base::masked_crc32c({head, 8})) + ", that of the length that is there");
}

SINTER_APART void refuse_data(const place& where, span<const std::byte> data, std::uint32_t crc) {
    throw format_error("corrupted record", where.text(), crc_text(crc) + " of its data",
                       crc_text(base::masked_crc32c(data)) + ", that of the data that are there");
}

SINTER_APART void refuse_end(const place& where, std::uint64_t left, std::uint64_t needed, std::string_view for_what) {
    throw format_error("truncated record", where.text(),
                       to_text({where.unpacked ? "at most " : "", left, " bytes to the end of the file"}),
                       to_text({needed, for_what}));
}

SINTER_APART void refuse_size(const place& where, std::uint64_t bytes, std::uint64_t most) {
    throw format_error("record is larger than allowed", where.text(), to_text({bytes, " bytes"}),
                       to_text({"at most ", most, " (option most_record_bytes)"}));
}
#endif

} // namespace sinter::tfrecord::detail
