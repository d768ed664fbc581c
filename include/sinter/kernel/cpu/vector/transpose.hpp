// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// Transposes of lanes x lanes blocks held in registers.
namespace sinter::inline SINTER_TARGET::cpu {

/// Lane l of the result is lane Pick::lane(l) of a and b laid end to end.
template <class Pick, int... L>
SINTER_INLINE vf shuffle_lanes(vf a, vf b, Pick, std::integer_sequence<int, L...>) {
#if defined(__CUDACC__) && !defined(__clang__)   // nvcc loses the pack on its way to g++
    return __builtin_shuffle(a, b, vi{Pick::lane(L)...});
#else
    return __builtin_shufflevector(a, b, Pick::lane(L)...);
#endif
}
template <class Pick>
SINTER_INLINE vf shuffle(vf a, vf b) {
    return shuffle_lanes(a, b, Pick{}, std::make_integer_sequence<int, lanes>{});
}

/// Lanes 0, 2, 4, ... (Odd = 0) or 1, 3, 5, ... of two vectors.
template <int Odd>
struct every_second {
    static constexpr int lane(int l) { return 2 * l + Odd; }
};
/// Within each group of four lanes: the low (High = 0) or high halves of a and b, alternating by
/// Size lanes. These are the unpack instructions of x86 and the zip instructions of ARM.
template <int Size, int High>
struct zip_quads {
    static constexpr int lane(int l) {
        const int quad = l / 4 * 4, unit = l % 4 / Size;
        return quad + 2 * High + unit / 2 * Size + l % Size + (unit % 2) * lanes;
    }
};
/// Groups of Size lanes exchanged between two vectors: High = 0 keeps a's even groups and
/// interleaves b's even ones.
template <int Size, int High>
struct swap_groups {
    static constexpr int lane(int l) { return (High ? l | Size : l & ~Size) + (l & Size ? lanes : 0); }
};

template <int Size>
SINTER_INLINE void swap_pair(vf& even, vf& odd) {
    const vf a = even, b = odd;
    even = shuffle<swap_groups<Size, 0>>(a, b);
    odd = shuffle<swap_groups<Size, 1>>(a, b);
}
template <int Size>
SINTER_INLINE void swap_rows(vf (&r)[lanes]) {
    if constexpr (Size < lanes)
        unroll<lanes>([&](int i) SINTER_ALWAYS {
            if (!(i & Size)) swap_pair<Size>(r[i], r[i + Size]);
        });
}

/// Each 4 x 4 block of four rows becomes its transpose.
template <std::size_t Rows>
SINTER_INLINE void transpose_quads(vf (&r)[Rows]) {
    unroll<Rows / 4>([&](int q) SINTER_ALWAYS {
        const int i = 4 * q;
        const vf a = shuffle<zip_quads<1, 0>>(r[i], r[i + 1]), b = shuffle<zip_quads<1, 1>>(r[i], r[i + 1]);
        const vf c = shuffle<zip_quads<1, 0>>(r[i + 2], r[i + 3]), d = shuffle<zip_quads<1, 1>>(r[i + 2], r[i + 3]);
        r[i] = shuffle<zip_quads<2, 0>>(a, c);
        r[i + 1] = shuffle<zip_quads<2, 1>>(a, c);
        r[i + 2] = shuffle<zip_quads<2, 0>>(b, d);
        r[i + 3] = shuffle<zip_quads<2, 1>>(b, d);
    });
}
/// r becomes its transpose: lane j of r[i] is what lane i of r[j] was.
SINTER_INLINE void transpose_lanes(vf (&r)[lanes]) {
    transpose_quads(r);
    swap_rows<4>(r);
    swap_rows<8>(r);
}

/// Half as many vectors, each the sum of two neighbours' halves: what a transpose does with groups
/// of Size lanes, added up as it goes.
template <int Size>
SINTER_INLINE void add_groups(vf (&r)[lanes]) {
    if constexpr (Size < lanes)
        unroll<lanes / (2 * Size)>([&](int i) SINTER_ALWAYS {
            using even = std::conditional_t<Size <= 2, zip_quads<Size, 0>, swap_groups<Size, 0>>;
            using odd = std::conditional_t<Size <= 2, zip_quads<Size, 1>, swap_groups<Size, 1>>;
            r[i] = shuffle<even>(r[2 * i], r[2 * i + 1]) + shuffle<odd>(r[2 * i], r[2 * i + 1]);
        });
}
/// Lane j of the result is the sum of the lanes of r[j], added in pairs; r is used up.
SINTER_INLINE vf sums_of_lanes(vf (&r)[lanes]) {
    add_groups<1>(r);
    add_groups<2>(r);
    add_groups<4>(r);
    add_groups<8>(r);
    return r[0];
}

/// Four vectors become, one behind the other, their lanes 0, their lanes 1, and so on.
SINTER_INLINE void interleave_rows(vf (&r)[4]) {
    transpose_quads(r);   // r[i] holds the lanes i, i + 4, ...
    if constexpr (lanes >= 8) {
        swap_pair<4>(r[0], r[1]);
        swap_pair<4>(r[2], r[3]);
    }
    if constexpr (lanes == 16) {
        swap_pair<8>(r[0], r[2]);
        swap_pair<8>(r[1], r[3]);
    } else if constexpr (lanes == 8) {
        const vf v = r[1];
        r[1] = r[2];
        r[2] = v;
    }
}

/// Four floats each from p, p + 4 steps, ..., as many as a vector has room for.
SINTER_INLINE vf load_quads(const float* p, [[maybe_unused]] std::ptrdiff_t step) {
#if defined(__AVX__)
    typedef float quad __attribute__((vector_size(16), aligned(4)));
    const auto pair = [&](std::ptrdiff_t at) SINTER_ALWAYS {
        const quad low = *reinterpret_cast<const quad*>(p + at),
                   high = *reinterpret_cast<const quad*>(p + at + 4 * step);
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    };
#if defined(__AVX512F__)
    return __builtin_shufflevector(pair(0), pair(8 * step), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return pair(0);
#endif
#else
    return load(p);
#endif
}
/// r[j] = column j of the rows at p, p + step, ..., of which `lanes` have four columns each: what
/// goes from one quarter of a vector to another does so on its way from memory, and few registers
/// are taken.
SINTER_INLINE void load_four_columns(vf (&r)[4], const float* p, std::ptrdiff_t step) {
    unroll<4>([&](int i) SINTER_ALWAYS { r[i] = load_quads(p + i * step, step); });
    transpose_quads(r);
}
/// r[j] = lane j of the vectors at p, p + Step, ...: their transpose. With eight lanes the halves
/// change places while they are loaded.
template <int Step>
SINTER_INLINE void load_transposed(vf (&r)[lanes], const float* p) {
#if defined(__AVX__) && !defined(__AVX512F__)
    typedef float quad __attribute__((vector_size(16), aligned(4)));
    unroll<lanes>([&](int i) SINTER_ALWAYS {
        const float* from = p + i % 4 * Step + i / 4 * 4;
        const quad low = *reinterpret_cast<const quad*>(from), high = *reinterpret_cast<const quad*>(from + 4 * Step);
        r[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    });
    transpose_quads(r);
#else
    unroll<lanes>([&](int i) SINTER_ALWAYS { r[i] = load(p + i * Step); });
    transpose_lanes(r);
#endif
}

/// to[j * to_step + i] = from[i * from_step + j] for i < rows (whole vectors), j < columns (a
/// multiple of four). By itself, for its loops need all registers that there are.
template <class = void>
SINTER_ONCE inline void transpose_whole(const float* from, std::int64_t from_step, std::int64_t rows,
                                        std::int64_t columns, float* to, std::int64_t to_step) {
    for (; rows > 0; rows -= lanes, from += lanes * from_step, to += lanes) {
        const float* x = from;
        float* y = to;
        for (std::int64_t j = columns; j > 0; j -= 4, x += 4, y += 4 * to_step) {
            vf four[4];
            load_four_columns(four, x, from_step);
            store_block<1>(four, y, to_step);
        }
    }
}

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns (both at most `lanes`).
/// Reads only what exists; writes whole vectors, the lanes from `rows` on as zeros, unless `exact`
/// forbids it.
template <class = void>
SINTER_INLINE void transpose_block(const float* from, std::int64_t from_step, int rows, int columns, float* to,
                                   std::int64_t to_step, bool exact) {
    if (rows == lanes && columns == lanes) return transpose_whole(from, from_step, rows, columns, to, to_step);
    int all = lanes;
    asm(""
        : "+r"(all),
          "+r"(columns));   // compilers that know how many iterations a loop has, or may have at most, write them out
    alignas(64) float edge[lanes * lanes];
    for (int i = 0; i < all; ++i) store(edge + i * lanes, i < rows ? load(from + i * from_step, columns) : zero());
    const int n = exact ? rows : lanes;
    for (int j = 0; j < columns; j += 4) {
        vf four[4];
        load_four_columns(four, edge + j, lanes);
        for (int i = 0; i < 4 && j + i < columns; ++i) store(to + (j + i) * to_step, four[i], n);
    }
}

/// As `transpose_block`, of any extents. Two blocks side by side, so that whole lines are read.
/// Compiled once: moving data is not worth code.
template <class = void>
SINTER_ONCE inline void transpose_matrix(const float* from, std::int64_t from_step, std::int64_t rows,
                                         std::int64_t columns, float* to, std::int64_t to_step, bool exact) {
    for (std::int64_t two = 0; two < columns; two += 2 * lanes) {
        const std::int64_t whole = columns - two < 2 * lanes ? 0 : rows / lanes * lanes;
        transpose_whole(from + two, from_step, whole, 2 * lanes, to + two * to_step, to_step);
        for (std::int64_t i = whole; i < rows; i += lanes)
            for (std::int64_t j = two; j < columns && j <= two + lanes; j += lanes)
                transpose_block(
                    from + i * from_step + j, from_step, static_cast<int>(rows - i < lanes ? rows - i : lanes),
                    static_cast<int>(columns - j < lanes ? columns - j : lanes), to + j * to_step + i, to_step, exact);
    }
}

} // namespace sinter::cpu
