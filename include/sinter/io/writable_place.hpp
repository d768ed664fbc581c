// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/atomic_write.hpp>

namespace sinter::inline SINTER_ORDINARY::io {

/// Throws what atomic_write() would because of the place: a folder that is missing or may not be written, a target that
/// is a folder, a device or write-protected. Nothing is left there: for who will write hours later.
SINTER_APART void need_writable_place(const std::string& path);

#if SINTER_BODIES
SINTER_COLD SINTER_APART void need_writable_place(const std::string& path) {
    atomic_write(path, [](output_file&) {}, [](auto) {});
}
#endif

} // namespace sinter::io
