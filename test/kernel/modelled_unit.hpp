// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <sinter/kernel/cpu/vector/matrix_unit.hpp>

namespace sinter::test {
using namespace compiler;

/// What Intel's manual says of AMX-BF16's tiles, in plain C++, so that the loops around the unit
/// are tested where there is none: TDPBF16PS sums the low and the high halves' products apart, adds
/// the two, then that to the sum; denormals count as zeros, going in and coming out. Tiles begin as
/// NaN: what uses one that was neither cleared nor loaded is seen.
class modelled_unit {
public:
    static constexpr bool exists = true;
    static bool ready() { return true; }

    modelled_unit() {
        for (auto& t : tile_)
            for (auto& row : t)
                for (float& x : row) x = std::numeric_limits<float>::quiet_NaN();
    }
    template <int Tile>
    void clear() {
        static_assert(Tile >= 0 && Tile < 8);
        std::memset(tile_[Tile], 0, sizeof tile_[Tile]);
    }
    template <int Tile>
    void load(const float* from, std::int64_t step) {
        static_assert(Tile >= 0 && Tile < 8);
        for (int i = 0; i < extent; ++i) std::memcpy(tile_[Tile][i], from + i * step, 4 * extent);
    }
    template <int Tile>
    void store(float* to, std::int64_t step) {
        for (int i = 0; i < extent; ++i) std::memcpy(to + i * step, tile_[Tile][i], 4 * extent);
    }
    template <int Sum, int A, int B>
    void multiply() {
        static_assert(Sum != A && Sum != B && A != B, "the instruction refuses one tile twice");
        for (int i = 0; i < extent; ++i)
            for (int j = 0; j < extent; ++j) {
                float low = 0, high = 0;
                for (int t = 0; t < extent; ++t) {
                    low = flushed(std::fma(half(tile_[A][i][t], 0), half(tile_[B][t][j], 0), low));
                    high = flushed(std::fma(half(tile_[A][i][t], 1), half(tile_[B][t][j], 1), high));
                }
                tile_[Sum][i][j] = flushed(flushed(tile_[Sum][i][j]) + flushed(low + high));
            }
    }

private:
    static constexpr int extent = cpu::unit_extent;
    float tile_[8][extent][extent];

    static float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.f, x) : x; }
    static float half(const float& pair, int high) {
        std::uint32_t bits;
        std::memcpy(&bits, &pair, 4);
        bits = high ? bits & 0xffff0000u : bits << 16;
        float x;
        std::memcpy(&x, &bits, 4);
        return flushed(x);
    }
};

} // namespace sinter::test
