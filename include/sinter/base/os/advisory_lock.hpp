// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/descriptor.hpp>
#include <sys/file.h>

namespace sinter::base::inline os {

/// Locks an open file, without waiting. The lock belongs to the open file: descriptors that were duplicated share it,
/// and it ends with the last of them, also where the process is killed. False: errno, EWOULDBLOCK where another has it,
/// and another one where the file system knows no locks.
SINTER_COLD inline bool try_lock(int file) {
    return uninterrupted([&] { return ::flock(file, LOCK_EX | LOCK_NB); }) == 0;
}
SINTER_COLD inline void unlock(int file) { ::flock(file, LOCK_UN); }

} // namespace sinter::base::os
