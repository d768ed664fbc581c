// SPDX-License-Identifier: BSL-1.0
#pragma once

/// In a source file of the library: headers that are included after this one have their functions' bodies. Those that
/// were included before it have declarations, because another file of the library compiles them.
#if defined(SINTER_SEPARATE_COMPILATION) && !defined(SINTER_COMPILES_BODIES)
#define SINTER_COMPILES_BODIES
#undef SINTER_BODIES
#undef SINTER_APART
#define SINTER_BODIES 1
#if defined(__clang__)   // as in base/separate_compilation.hpp
#define SINTER_APART __attribute__((weak))
#else
#define SINTER_APART inline __attribute__((used))
#endif
#endif
