// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>

/// In a source file of the library: headers that are included after this one have their functions' bodies. Those that
/// were included before it have declarations, because another file of the library compiles them. A function that two
/// files had would not link.
#if defined(SINTER_SEPARATE_COMPILATION) && !defined(SINTER_COMPILES_BODIES)
#define SINTER_COMPILES_BODIES
#undef SINTER_BODIES
#define SINTER_BODIES 1
#endif
