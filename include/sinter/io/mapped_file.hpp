// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/io/file.hpp>
#include <sys/mman.h>

namespace sinter::inline SINTER_TARGET::io {

/// A regular file's bytes as memory that the system reads as they are looked at, and may give up
/// again. The file must not become shorter meanwhile; one that is replaced as atomic_write.hpp does
/// it stays what it was.
class mapped_file {
public:
    /// Throws io_error.
    SINTER_COLD explicit mapped_file(const std::string& path) {
        const opened_file file = open_regular_file(path);
        size_ = static_cast<std::size_t>(file.size);
        if (size_ == 0) return;
        void* const p = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.fd.get(), 0);
        if (p == MAP_FAILED) throw_io_error(errno, "cannot map a file", path);
        at_ = p;
    }
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;
    ~mapped_file() {
        if (at_) ::munmap(at_, size_);
    }

    span<const std::byte> bytes() const { return {static_cast<const std::byte*>(at_), size_}; }
    /// None of it counts as this process's memory any more; what is looked at comes again.
    void forget() const noexcept {
        if (at_) ::madvise(at_, size_, MADV_DONTNEED);
    }

private:
    void* at_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace sinter::io
