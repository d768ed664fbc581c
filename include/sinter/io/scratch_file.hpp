// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/mapped_file.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/file.hpp>

namespace sinter::inline SINTER_ORDINARY::io {

/// Bytes that memory shall not hold until they are written where they belong: a file without a
/// name, which ends with this object. They are appended first, and read as memory afterwards, of
/// which the system keeps as much as it likes.
class scratch_file {
public:
    /// In `folder`, empty: the present one. Throws io_error.
    SINTER_APART explicit scratch_file(const std::string& folder);
    scratch_file(scratch_file&&) noexcept = default;
    scratch_file& operator=(scratch_file&&) = delete;

    /// Before data(). Throws io_error.
    SINTER_APART void append(span<const std::byte> bytes);
    std::size_t size() const { return written_ + block_.size(); }
    /// Bytes from `at` on, into memory. Throws io_error.
    SINTER_APART void read(std::uint64_t at, span<std::byte> to);
    /// All of it; null where there is nothing. Throws io_error.
    SINTER_APART const void* data();

private:
    static constexpr std::size_t block_bytes = std::size_t{1} << 18;
    std::string name_;
    descriptor fd_;
    std::vector<std::byte> block_;
    std::size_t written_ = 0;
    os::mapped_file mapped_;

    SINTER_APART void flush();
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART scratch_file::scratch_file(const std::string& folder)
    : name_((folder.empty() ? std::string(".") : folder) + "/.sinter-scratch-XXXXXX"),
      fd_(os::make_nameless_file(name_)) {
    if (!fd_) throw_io_error(errno, "cannot create a file for the time being", name_);
}

SINTER_APART void scratch_file::append(span<const std::byte> bytes) {
    block_.insert(block_.end(), bytes.begin(), bytes.end());
    if (block_.size() >= block_bytes) flush();
}

SINTER_COLD SINTER_APART void scratch_file::read(std::uint64_t at, span<std::byte> to) {
    flush();
    while (!to.empty()) {
        const auto n = os::read_some_at(fd_.get(), at, to);
        if (n <= 0) throw_io_error(n < 0 ? errno : EIO, "cannot read", name_);
        to = to.subspan(static_cast<std::size_t>(n));
        at += static_cast<std::uint64_t>(n);
    }
}

SINTER_COLD SINTER_APART const void* scratch_file::data() {
    flush();
    if (!mapped_ && written_) {
        mapped_ = os::mapped_file(fd_.get(), written_);
        if (!mapped_) throw_io_error(errno, "cannot map a file", name_);
    }
    return mapped_.data();
}

SINTER_COLD SINTER_APART void scratch_file::flush() {
    span<const std::byte> left(block_.data(), block_.size());
    while (!left.empty()) {
        const auto n = os::write_some(fd_.get(), left);
        if (n <= 0) throw_io_error(n < 0 ? errno : ENOSPC, "cannot write", name_);
        left = left.subspan(static_cast<std::size_t>(n));
        written_ += static_cast<std::size_t>(n);
    }
    block_.clear();
}
#endif

} // namespace sinter::io
