// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

#include <sinter/base/prefetch.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>

/// What a core's caches are taken to hold of what a kernel works on, in floats. Compilers do not
/// tell, so the width of vectors stands for the size. Processors with vectors of 512 bits
/// (Skylake-SP, Zen 4 and what came after them) have 1 MB and more on the second level, others
/// mostly 512 KB. On the first level all have 32 KB at least.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr std::int64_t first_level_floats = 1 << 13;
inline constexpr std::int64_t second_level_floats = lanes >= 16 ? 1 << 18 : 1 << 17;
/// Lines a page apart share places of the first level: so many of them, at least, stay there.
inline constexpr std::int64_t a_page = 1024, first_level_ways = 8;

} // namespace sinter::cpu
