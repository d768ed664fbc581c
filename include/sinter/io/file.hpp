// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/file_status.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/byte_source.hpp>
#include <sinter/io/throw_io_error.hpp>

#include <vector>

/// Files. Every refusal by the system is an `io_error` that names the path, what the
/// system said and what was being done. Only regular files are read: a pipe has no length to check
/// a header against.
namespace sinter::inline SINTER_ORDINARY::io {

/// A regular file that is open for reading, and its bytes when it was opened.
struct opened_file {
    descriptor fd;
    std::uint64_t size = 0;
};
/// Throws io_error where `path` cannot be opened or is no regular file.
SINTER_SELDOM SINTER_COLD opened_file open_regular_file(const std::string& path);

/// A regular file opened for reading from its beginning.
class input_file final : public byte_source {
public:
    /// Throws io_error where `path` cannot be opened or is no regular file.
    SINTER_COLD explicit input_file(std::string path) : path_(std::move(path)), file_(open_regular_file(path_)) {}

    /// Bytes in the file when it was opened.
    std::uint64_t size() const noexcept { return file_.size; }

    SINTER_APART std::size_t read_some(span<std::byte> to) override;
    std::uint64_t at_most_left() const override { return size() > position_ ? size() - position_ : 0; }
    const std::string& name() const override { return path_; }

private:
    std::string path_;
    opened_file file_;
    std::uint64_t position_ = 0;
};

/// The bytes of the file at `path`; throws io_error where it cannot be read, changes meanwhile, or
/// does not fit in memory.
SINTER_SELDOM std::vector<std::byte> read_whole_file(const std::string& path);

/// An open file that is being written, front to back. Buffers go to the system as they are, without
/// a copy.
class output_file {
public:
    /// Takes over a descriptor opened for writing; `path` is what errors call it.
    output_file(descriptor fd, std::string path) : path_(std::move(path)), fd_(std::move(fd)) {}

    /// Writes all of `bytes`; throws io_error (disk full, limit reached) where the system takes
    /// fewer.
    SINTER_SELDOM SINTER_COLD void write(span<const std::byte> bytes);
    void write(std::string_view text) { write(as_bytes(text)); }

    std::uint64_t written() const noexcept { return written_; }

    /// Returns when the bytes are on the disk itself, and closes: some file systems report a full
    /// disk only here.
    SINTER_SELDOM SINTER_COLD void sync_and_close();

private:
    std::string path_;
    descriptor fd_;
    std::uint64_t written_ = 0;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY opened_file open_regular_file(const std::string& path) {
    need_whole_path(path);
    opened_file file;
    file.fd = os::open_to_read(path);
    if (!file.fd) throw_io_error(errno, "cannot open for reading", path);
    const os::file_status status = os::status_of(file.fd.get());
    if (!status) throw_io_error(errno, "cannot ask for the size", path);
    if (!status.is_regular())
        throw io_error("cannot read", path, status.is_folder() ? "a folder" : "a device or pipe",
                       "a regular file");
    file.size = status.bytes;
    return file;
}

SINTER_COLD SINTER_APART std::size_t input_file::read_some(span<std::byte> to) {
    if (to.empty()) return 0;
    const auto n = os::read_some(file_.fd.get(), to);
    if (n < 0) throw_io_error(errno, "cannot read", path_, to_text({"bytes from ", position_, " on"}));
    position_ += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
}

SINTER_SELDOM_BODY std::vector<std::byte> read_whole_file(const std::string& path) {
    input_file in(path);
    std::vector<std::byte> bytes;
    try {
        bytes.resize(in.size());
    } catch (const std::exception&) { // bad_alloc, or length_error where the size is beyond any vector's
        throw io_error("not enough memory", path, {}, to_text({in.size(), " bytes"}));
    }
    if (in.read_up_to(bytes) != bytes.size())
        throw io_error("file became shorter while it was read", path, {}, to_text({in.size(), " bytes"}));
    return bytes;
}

SINTER_SELDOM_BODY void output_file::write(span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto n = os::write_some(fd_.get(), bytes);
        if (n <= 0)
            throw_io_error(n < 0 ? errno : ENOSPC, "cannot write", path_,
                           to_text({bytes.size(), " more bytes after ", written_}));
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        written_ += static_cast<std::uint64_t>(n);
    }
}

SINTER_SELDOM_BODY void output_file::sync_and_close() {
    if (!os::sync(fd_.get())) throw_io_error(errno, "cannot sync", path_);
    if (const int fault = fd_.close()) throw_io_error(fault, "cannot close", path_);
}
#endif

} // namespace sinter::io
