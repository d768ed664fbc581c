// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

#if (defined(__AMX_BF16__) || defined(__AMXBF16__)) && defined(__AVX512BF16__) &&                                      \
    defined(__linux__)   // clang 14 has the second name
#define SINTER_HAS_AMX 1
#include <sinter/base/os/matrix_tiles.hpp>
#endif

/// Units that multiply tiles of pairs of bfloat16: eight tiles, each 16 rows of 16 times 32 bits.
/// An object has the tiles while it lives; tiles are named by constants, as registers are.
/// `ready()`: may this process use the unit? It never changes its answer.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr int unit_extent = 16;   ///< a tile's rows, and its columns of 32 bits

/// For targets without one.
struct no_matrix_unit {
    static constexpr bool exists = false;
    static constexpr bool ready() { return false; }
};

#ifdef SINTER_HAS_AMX
/// What the tiles are to be, as the unit wants to hear it: here each as large as it can be.
struct alignas(64) amx_shapes {
    std::uint8_t palette = 1, first_row = 0, none[14] = {};
    std::uint16_t bytes_a_row[16] = {};
    std::uint8_t rows[16] = {};
    constexpr amx_shapes() {
        for (int t = 0; t < 8; ++t) bytes_a_row[t] = 4 * unit_extent, rows[t] = unit_extent;
    }
};
static_assert(sizeof(amx_shapes) == 64);

/// AMX-BF16 (Intel's manual, volume 1, chapter 18), as Linux grants it. By assembler, since the
/// compilers' own names come with the header that intrinsics.hpp is there to avoid.
class amx {
public:
    static constexpr bool exists = true;
    /// The system is asked once.
    static bool ready() {
        static const bool granted = base::os::grant_matrix_tiles();
        return granted;
    }

    amx() {
        static constexpr amx_shapes all;
        asm volatile("ldtilecfg %0" : : "m"(all) : "memory");
    }
    ~amx() {
        asm volatile("tilerelease" : : : "memory");
    }   // with nothing in tiles a switch of threads need not keep them
    amx(const amx&) = delete;
    amx& operator=(const amx&) = delete;

    template <int Tile>
    void clear() { asm volatile("tilezero %%tmm%c0" : : "i"(Tile) : "memory"); }
    /// Rows `step` floats apart.
    template <int Tile>
    void load(const float* from, std::int64_t step) {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(4 * step), "i"(Tile) : "memory");
    }
    template <int Tile>
    void store(float* to, std::int64_t step) {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(4 * step), "i"(Tile) : "memory");
    }
    /// Sum[i][j] += both products of a[i][t] and b[t][j], for all t.
    template <int Sum, int A, int B>
    void multiply() { asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sum), "i"(A), "i"(B) : "memory"); }
};
using matrix_unit = amx;
#undef SINTER_HAS_AMX
#else
using matrix_unit = no_matrix_unit;
#endif

} // namespace sinter::cpu
