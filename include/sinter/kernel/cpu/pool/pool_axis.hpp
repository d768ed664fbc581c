// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/bytes.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// One axis of a pool: `Out` windows of K elements, S apart, the first P elements before the
/// beginning.
template <int Extent, int Out, int K, int S, int P>
struct pool_axis {
    struct range {
        int first, last;
    };
    /// The elements of window o that exist.
    static constexpr range elements(int o) {
        const int first = std::max(0, o * S - P);
        return {first, std::max(first, std::min(Extent, o * S - P + K))};
    }
    /// The windows that hold element i.
    static constexpr range windows(int i) {
        const int first = std::max(0, (i + P - K + S) / S * (i + P >= K));
        return {first, std::max(first, std::min(Out, (i + P) / S + 1))};
    }
    /// Place of element i in window o.
    static constexpr int place(int i, int o) { return i + P - o * S; }
    /// By how many a mean divides along this axis: the elements that exist, all K, or those within
    /// `after` of padding.
    static constexpr int counted(int o, bool all, int after) {
        if (all) return K;
        if (after < 0) return elements(o).last - elements(o).first;
        return std::min(o * S - P + K, Extent + after) - (o * S - P);
    }
};

/// How a pool reads a vector of channels: whole, or the N < lanes that are left.
template <int N>
struct channel_vector {
    static constexpr int count = N;
    static SINTER_INLINE vf get(const float* p) {
        if constexpr (N == lanes)
            return load(p);
        else
            return load(p, N);
    }
    template <class Body>
    static SINTER_INLINE void put(vf v, std::int64_t off, std::int64_t row, int col, const call& c) {
        if constexpr (N == lanes)
            Body::vector(v, off, row, col, c);
        else
            Body::vector(v, N, off, row, col, c);
    }
};

/// f(channel_vector, first channel) for C channels.
template <int C, class F>
SINTER_INLINE void for_channels(F f) {
    if constexpr (C >= lanes)
        for (int j = 0; j + lanes <= C; j += lanes) f(channel_vector<lanes>{}, j);
    if constexpr (C % lanes > 0) f(channel_vector<C % lanes>{}, C / lanes * lanes);
}

/// f(image, y, x, pixel) for this part's share of the rows of m images [Rows, Columns].
template <int Rows, int Columns, class F>
SINTER_INLINE void for_pixels(const call& c, F f) {
    const std::int64_t end = share(std::int64_t{c.m} * Rows, c.part + 1, c.parts);
    for (std::int64_t r = share(std::int64_t{c.m} * Rows, c.part, c.parts); r < end; ++r)
        for (int x = 0; x < Columns; ++x) f(r / Rows, static_cast<int>(r % Rows), x, r * Columns + x);
}

} // namespace sinter::cpu
