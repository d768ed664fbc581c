// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cerrno>
#include <cstddef>
#include <sys/mman.h>
#include <utility>

namespace sinter::base::inline os {

/// The bytes of an open file as memory, to be read; the descriptor may be closed meanwhile. A file that becomes
/// shorter ends the program where its missing bytes are read.
class mapped_file {
public:
    mapped_file() = default;
    /// Its first `bytes`, of which there is at least one. Empty where the system cannot, and errno.
    SINTER_APART mapped_file(int file, std::size_t bytes);
    mapped_file(mapped_file&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
    SINTER_APART mapped_file& operator=(mapped_file&& other) noexcept;
    ~mapped_file() {
        if (at_) ::munmap(at_, bytes_);
    }
    explicit operator bool() const { return at_ != nullptr; }
    const void* data() const { return at_; }

private:
    void* at_ = nullptr;
    std::size_t bytes_ = 0;
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART mapped_file::mapped_file(int file, std::size_t bytes)
    : bytes_(bytes) {
    void* const p = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (p != MAP_FAILED) at_ = p;
}

SINTER_APART mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
}
#endif

} // namespace sinter::base::os
