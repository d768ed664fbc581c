// SPDX-License-Identifier: BSL-1.0
#pragma once

/// In a source file of the library: headers that are included after this one have their functions' bodies. Those that
/// were included before it have declarations, because another file of the library compiles them.
#if defined(SINTER_SEPARATE_COMPILATION) && !defined(SINTER_COMPILES_BODIES)
#define SINTER_COMPILES_BODIES
#include <sinter/base/separate_compilation_macros.hpp>
#endif
