// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/file.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace sinter::inline SINTER_TARGET::io {

namespace detail {

/// Where a symbolic link leads, so that saving through a link replaces the file and not the link.
SINTER_COLD inline std::string behind_links(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
    char* const resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) throw_io_error(errno, "cannot follow the link", path);
    std::string target;
    try {
        target = resolved;
    } catch (...) {
        std::free(resolved);
        throw;
    }
    std::free(resolved);
    return target;
}

/// A file under a name of its own in an open folder; unlinked again unless it was renamed to its final name.
class temporary_file {
public:
    SINTER_COLD temporary_file(int folder, const std::string& final_name, mode_t mode, const std::string& path)
        : folder_(folder) {
        static std::atomic<unsigned> counter{0};
        constexpr std::size_t longest_stem = 200; // leaves room for the suffix under the usual limit of 255
        for (;;) {
            name_ = joined({".", std::string_view(final_name).substr(0, longest_stem), ".", ::getpid(), ".", counter.fetch_add(1), ".tmp"});
            fd_ = descriptor(uninterrupted([&] {
                return ::openat(folder, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
            }));
            if (fd_) return;
            const int fault = errno;
            if (fault == EEXIST) continue; // left by a process that was killed
            name_.clear();
            throw_io_error(fault, "cannot create a temporary file beside", path);
        }
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() {
        if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);
    }

    const std::string& name() const noexcept { return name_; }
    descriptor take_descriptor() noexcept { return std::move(fd_); }
    void rename_to(const std::string& final_name, const std::string& path) {
        if (::renameat(folder_, name_.c_str(), folder_, final_name.c_str()) != 0)
            throw_io_error(errno, "cannot rename the temporary file", path);
        name_.clear();
    }

private:
    int folder_;
    std::string name_;
    descriptor fd_;
};

} // namespace detail

/// Writes a whole file or nothing: `fill(output_file&)` writes to a temporary file in the target's folder, which is
/// synced and then renamed over the target. Whoever reads `path`, also after a crash, finds the old file or the new
/// one, never a part. An existing file's permissions are kept; a symbolic link is followed.
///
/// Throws io_error when the folder cannot be written, the disk is full, or `path` is a folder or a device; then, and
/// when `fill` throws, the old file is untouched and no temporary file stays behind. (One error comes later: if the
/// folder cannot be synced, the new file is in place and the error says that it may not survive a power cut.)
template <class Fill>
SINTER_COLD void atomic_write(const std::string& given_path, Fill&& fill) {
    const std::string path = detail::behind_links(given_path);
    const std::size_t slash = path.rfind('/');
    const std::string folder_name = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (name.empty()) throw io_error("cannot write", path, "a path that ends in a folder", "the name of a file");

    const descriptor folder(
        uninterrupted([&] { return ::open(folder_name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!folder) throw_io_error(errno, "cannot open the folder to write in", path);

    mode_t mode = 0666;
    struct stat old {};
    const bool replaces = ::fstatat(folder.get(), name.c_str(), &old, 0) == 0;
    if (replaces && !S_ISREG(old.st_mode)) // a rename would remove the device node itself
        throw io_error("cannot replace", path, S_ISDIR(old.st_mode) ? "a folder" : "a device or pipe",
                       "a regular file");
    if (replaces) mode = old.st_mode & 07777;

    detail::temporary_file temporary(folder.get(), name, mode, path);
    output_file out(temporary.take_descriptor(), path);
    fill(out);
    if (replaces && ::fchmodat(folder.get(), temporary.name().c_str(), mode, 0) != 0)
        throw_io_error(errno, "cannot keep the permissions", path);
    out.sync_and_close();
    temporary.rename_to(name, path);
    // Some file systems cannot sync a folder and need not; they answer EINVAL.
    if (uninterrupted([&] { return ::fsync(folder.get()); }) != 0 && errno != EINVAL)
        throw_io_error(errno, "written, but its folder cannot be synced: it may be lost in a power cut", path);
}

} // namespace sinter::io
