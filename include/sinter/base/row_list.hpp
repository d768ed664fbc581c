// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

namespace sinter {

/// Between the number of a list's rows and their keys: floats that begin a line of 64 bytes.
inline constexpr int list_header = 16;

/// The gradient of a table [V, E] of which a batch names few rows. It does not own its memory.
struct row_list {
    std::int32_t* keys = nullptr;   ///< *keys: how many rows; row k is of the table's row keys[list_header + k]
    float* rows = nullptr;          ///< one after the other; zeros after the last, up to a whole line of 16 floats
    int row_floats = 0;             ///< E

    constexpr int size() const { return *keys; }
    constexpr std::int32_t& key(int k) const { return keys[list_header + k]; }
    constexpr float* row(int k) const { return rows + std::int64_t{k} * row_floats; }
    /// Lines of 16 floats that the rows take: what sums go over.
    constexpr std::int64_t lines() const { return (std::int64_t{*keys} * row_floats + 15) / 16; }
};

} // namespace sinter
