// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sinter::base::inline os {

/// Asks for the tiles of AMX, for all of this process; asked again it answers the same. Linux keeps them for a thread
/// from the first use on, if it has been asked for by then. It refuses where the kernel is too old (before 5.16), does
/// not know the unit, or a thread's stack for signals is too small.
SINTER_COLD inline bool grant_matrix_tiles() {
#if defined(__linux__) && defined(__x86_64__)
    constexpr long request_component = 0x1023, tile_data = 18;   // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return ::syscall(SYS_arch_prctl, request_component, tile_data) == 0;
#else
    return false;
#endif
}

} // namespace sinter::base::os
