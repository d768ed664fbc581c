// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A number of a server's that is infinite or NaN.
struct wrong_number {
    std::int64_t table = -1;   ///< -1: of the dense array
    std::int64_t slot = -1;    ///< -1: of the values
    std::int64_t key = 0;      ///< of a table: a local row, or its key
    std::int64_t at = 0;       ///< in the row, or in the array
    float value = 0;
};
/// Some of them on their way.
struct wrong_numbers {
    std::vector<wrong_number> all;

    template <class A>
    void serialize(A& a, unsigned) {
        std::vector<std::int64_t> flat;
        for (const wrong_number& n : all)
            flat.insert(flat.end(), {n.table, n.slot, n.key, n.at, std::bit_cast<std::int32_t>(n.value)});
        a & flat;
        all.clear();
        for (std::size_t i = 0; i + 5 <= flat.size(); i += 5)
            all.push_back({flat[i], flat[i + 1], flat[i + 2], flat[i + 3],
                           std::bit_cast<float>(static_cast<std::int32_t>(flat[i + 4]))});
    }
    void check() const {}
};

/// The place of the first number of n that is infinite or NaN; -1: there is none.
inline std::int64_t place_of_wrong_number(const float* x, std::int64_t n) {
    constexpr std::uint32_t exponent = 0x7f800000;
    constexpr std::int64_t some = 256;   // without a branch for each
    for (std::int64_t from = 0; from < n; from += some) {
        const std::int64_t end = from + some < n ? from + some : n;
        std::uint32_t wrong = 0;
        for (std::int64_t i = from; i < end; ++i)
            wrong |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(x[i]) & exponent) == exponent);
        for (std::int64_t i = from; wrong && i < end; ++i)
            if ((std::bit_cast<std::uint32_t>(x[i]) & exponent) == exponent) return i;
    }
    return -1;
}

} // namespace sinter::parameter_servers
