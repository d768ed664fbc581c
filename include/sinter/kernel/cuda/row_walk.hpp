// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/body.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

inline constexpr int warp_lanes = 32;

/// The work of bodies that reduce rows: a warp takes a row, its lanes every 32nd column. After each
/// phase the lanes' results meet in a butterfly, the same tree on the device (by shuffles) and on
/// the host (over an array).
template <std::uint64_t... W>
struct row_walk {
    using B = body<W...>;
    using call = typename B::call;
    using instructions = typename B::all;
    static constexpr int passes = B::phases + 2;   // what is done once a row may come a phase after the last column
    using all_passes = std::make_integer_sequence<int, passes>;

#ifdef __CUDACC__
    /// One lane of the warp that has the rows of `part`.
    static __device__ __forceinline__ void lane(int part, int number, const call& c) {
        const std::int64_t rows = c.row_count();
        if (part >= rows) clear_sums(part, number, c);
        for (std::int64_t row = part; row < rows; row += c.parts) {
            float r[B::size + 1];
            lane_row(r, row, part, number, c, all_passes{});
        }
    }
#endif
    /// All lanes of that warp, one after the other.
    static void warp(int part, const call& c) {
        const std::int64_t rows = c.row_count();
        for (int l = 0; part >= rows && l < warp_lanes; ++l) clear_sums(part, l, c);
        for (std::int64_t row = part; row < rows; row += c.parts) {
            float r[warp_lanes][B::size + 1];
            warp_row(r, row, part, c, all_passes{});
        }
    }

private:
    /// Of a part without rows, as there are where a list is short.
    static SINTER_HOST_DEVICE void clear_sums(int part, int lane, const call& c) {
        for (int k = 0; k < B::sums; ++k)
            for (std::int64_t j = lane; j < c.columns; j += warp_lanes) c.partial_sum(k, part)[j] = 0.f;
    }
    static constexpr bool reduces(int i, int phase) { return B::is_reduction(i) && B::code[i].phase == phase; }

    /// A lane's part of a phase: its own sums and maxima.
    template <int Phase>
    static SINTER_HOST_DEVICE void columns(float* r, std::int64_t row, int part, int lane, const call& c) {
        const bool first = row == part;
        B::template phase<Phase, true>(r, {row, row, 0, part, lane == 0, first}, c);
        if constexpr (Phase < B::phases) {
            begin<Phase>(r, instructions{});
            for (std::int64_t j = lane; j < c.columns; j += warp_lanes)
                B::template phase<Phase, false>(r, {row * c.columns + j, row, static_cast<int>(j), part, true, first},
                                                c);
        }
    }
    template <int Phase, int... I>
    static SINTER_HOST_DEVICE void begin(float* r, std::integer_sequence<int, I...>) {
        (begin_one<I, reduces(I, Phase)>(r), ...);
    }
    template <int I, bool Reduces>
    static SINTER_HOST_DEVICE void begin_one(float* r) {
        constexpr bool sum = B::code[I].is(opcode::row_sum);
        if constexpr (Reduces) r[I] = sum ? 0.f : -__builtin_inff();
    }
    template <int I>
    static SINTER_HOST_DEVICE float meet(float a, float b) {
        constexpr bool sum = B::code[I].is(opcode::row_sum);
        return sum ? a + b : larger(a, b);
    }

#ifdef __CUDACC__
    template <int I, bool Reduces>
    static __device__ __forceinline__ void shuffle(float* r) {
        if constexpr (Reduces)
            for (int h = warp_lanes / 2; h; h /= 2) r[I] = meet<I>(r[I], __shfl_xor_sync(0xffffffffu, r[I], h));
    }
    template <int Phase, int... I>
    static __device__ __forceinline__ void lane_pass(float* r, std::int64_t row, int part, int lane, const call& c,
                                                     std::integer_sequence<int, I...>) {
        columns<Phase>(r, row, part, lane, c);
        (shuffle<I, reduces(I, Phase)>(r), ...);
    }
    template <int... Phase>
    static __device__ __forceinline__ void lane_row(float* r, std::int64_t row, int part, int lane, const call& c,
                                                    std::integer_sequence<int, Phase...>) {
        (lane_pass<Phase>(r, row, part, lane, c, instructions{}), ...);
    }
#endif
    template <int I, bool Reduces>
    static void exchange(float (*r)[B::size + 1]) {
        if constexpr (Reduces)
            for (int h = warp_lanes / 2; h; h /= 2) {
                float v[warp_lanes];
                for (int l = 0; l < warp_lanes; ++l) v[l] = meet<I>(r[l][I], r[l ^ h][I]);
                for (int l = 0; l < warp_lanes; ++l) r[l][I] = v[l];
            }
    }
    template <int Phase, int... I>
    static void warp_pass(float (*r)[B::size + 1], std::int64_t row, int part, const call& c,
                          std::integer_sequence<int, I...>) {
        for (int l = 0; l < warp_lanes; ++l) columns<Phase>(r[l], row, part, l, c);
        (exchange<I, reduces(I, Phase)>(r), ...);
    }
    template <int... Phase>
    static void warp_row(float (*r)[B::size + 1], std::int64_t row, int part, const call& c,
                         std::integer_sequence<int, Phase...>) {
        (warp_pass<Phase>(r, row, part, c, instructions{}), ...);
    }
};

} // namespace sinter::gpu
