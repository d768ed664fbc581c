// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

/// Extents of symbolic tensors.
namespace sinter::inline SINTER_ORDINARY {

/// Axes of one example at most; the batch is one more.
inline constexpr int max_rank = 5;

/// The elements of a tensor.
enum class dtype : std::uint8_t { f32, i32, u8 };

/// How a tensor lies in memory. `weights` means: a matrix (all axes but the last are its rows) in
/// whatever packed form the target's kernels want; files and users only ever see it plain. `steps`
/// means: the first axis is time, and the batch lies within it, [T][batch][...], so that a loop
/// finds all examples of one step together.
enum class layout : std::uint8_t { plain, weights, steps };

/// The extents of one example, and whether there is a leading batch axis whose extent is known only
/// at run time.
struct shape {
    bool batched = false;
    layout form = layout::plain;
    dtype type = dtype::f32;
    int rank = 0;
    int d[max_rank] = {};

    constexpr bool operator==(const shape&) const = default;

    // One expression each, without a loop: passes ask for these all the time, and clang counts
    // statements.
    static_assert(max_rank == 5);
    // Unsigned: of extents that are too large they give some number, and a node that has them is a
    // fault; an overflow would be an error of the compiler's own.
    constexpr int size() const {   ///< elements of one example
        return static_cast<int>(static_cast<unsigned>(rows()) * static_cast<unsigned>(last()));
    }
    /// Are these more elements than size() can tell? As a double: no product of extents is too
    /// large for that.
    constexpr bool is_too_large() const {
        return (rank > 0 ? 1. * d[0] : 1.) * (rank > 1 ? d[1] : 1) * (rank > 2 ? d[2] : 1) * (rank > 3 ? d[3] : 1) *
                   (rank > 4 ? d[4] : 1) >= 0x1p31;
    }
    constexpr int last() const { return rank ? d[rank - 1] : 1; }
    constexpr int rows() const {   ///< elements of one example without the last axis
        return static_cast<int>(
            static_cast<unsigned>(rank > 1 ? d[0] : 1) * static_cast<unsigned>(rank > 2 ? d[1] : 1) *
            static_cast<unsigned>(rank > 3 ? d[2] : 1) * static_cast<unsigned>(rank > 4 ? d[3] : 1));
    }
    constexpr shape plain() const {
        shape s = *this;
        s.form = layout::plain;
        return s;
    }
};

/// `extents(28, 28, 1)`: a shape without batch; `batch_of(...)`: the same with one.
template <class... I>
constexpr shape extents(I... d) {
    return {.rank = static_cast<int>(sizeof...(I)), .d = {static_cast<int>(d)...}};
}
template <class... I>
constexpr shape batch_of(I... d) {
    return {.batched = true, .rank = static_cast<int>(sizeof...(I)), .d = {static_cast<int>(d)...}};
}
constexpr shape with_last(shape s, int n) {
    if (s.rank == 0) s.rank = 1;
    s.d[s.rank - 1] = n;
    return s;
}
/// The batch as an axis like any other.
constexpr shape with_batch(const shape& s, int batch) {
    shape y = s.plain();
    y.batched = false;
    y.rank = s.rank + 1;
    y.d[0] = batch;
    for (int i = 0; i < s.rank; ++i) y.d[i + 1] = s.d[i];
    return y;
}
/// One value a row: the last axis shrunk to one.
constexpr shape row_shape(const shape& s) { return with_last(s, 1); }

} // namespace sinter
