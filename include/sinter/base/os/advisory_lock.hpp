// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/descriptor.hpp>
#include <sinter/base/separate_compilation.hpp>
#if SINTER_BODIES
#include <sys/file.h>
#endif

namespace sinter::base::inline os {

/// Locks an open file, without waiting. The lock belongs to the open file: descriptors that were duplicated share it,
/// and it ends with the last of them, also where the process is killed. False: errno, EWOULDBLOCK where another has it,
/// and another one where the file system knows no locks.
SINTER_SELDOM SINTER_COLD bool try_lock(int file);
SINTER_SELDOM SINTER_COLD void unlock(int file);

#if SINTER_BODIES
SINTER_SELDOM_BODY bool try_lock(int file) {
    return uninterrupted([&] { return ::flock(file, LOCK_EX | LOCK_NB); }) == 0;
}

SINTER_SELDOM_BODY void unlock(int file) { ::flock(file, LOCK_UN); }
#endif

} // namespace sinter::base::os
