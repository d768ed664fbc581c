// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/file.hpp>
#if SINTER_BODIES
#include <sinter/base/os/advisory_lock.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/base/os/folder.hpp>
#include <sinter/base/os/process.hpp>
#include <sinter/io/make_folders.hpp>
#include <algorithm>
#include <atomic>
#endif

namespace sinter::inline SINTER_ORDINARY::io {

/// Gives a file its name once all of it is on disk, by a call of what it is given.
using publish_function = base::function_ref<void(base::function_ref<void()> rename)>;

/// Writes a whole file or nothing: `fill(output_file&)` writes to a temporary file in the target's
/// folder, which is synced and then renamed over the target. Whoever reads `path`, also after a
/// crash, finds the old file or the new one, never a part. An existing file's permissions are kept;
/// a symbolic link is followed. A folder that is missing is made, and those above it.
///
/// Temporary files that killed writers of the same target left behind are removed first. Living
/// writers, also of other processes, hold locks on theirs and are not disturbed; the last to finish
/// is the one whose file stays.
///
/// `publish(rename)` is called once all is on disk, and calls rename(), which gives the file its
/// name; or it throws, and then the old file is untouched.
///
/// Throws io_error when the folder cannot be written, the disk is full, or `path` is a folder, a
/// device or a write-protected file: one that this process may not write, or whose mode lets nobody
/// write, for then even root is meant. Then, and when `fill` throws, the old file is untouched and
/// no temporary file stays behind. (One error comes later: if the folder cannot be synced, the new
/// file is in place and the error says that it may not survive a power cut.)
SINTER_SELDOM SINTER_COLD void atomic_write(const std::string& given_path, base::function_ref<void(output_file&)> fill,
                                            publish_function publish);
SINTER_SELDOM SINTER_COLD void atomic_write(const std::string& path, base::function_ref<void(output_file&)> fill);

#if SINTER_BODIES
namespace detail {
/// Where a symbolic link leads, so that saving through a link replaces the file and not the link.
SINTER_COLD inline std::string behind_links(const std::string& path) {
    const os::file_status behind = os::status_of(path);
    if (behind && !behind.is_regular()) return path;   // refused by what it is: /dev/stdout
    if (!os::status_of_link(path).is_link()) return path;
    std::string target = os::canonical_path(path);
    if (target.empty()) throw_io_error(errno, "cannot follow the link", path);
    return target;
}

/// The longest part of a final name in a temporary one: leaves room for the suffix under the usual
/// limit of 255.
inline constexpr std::size_t longest_stem = 200;

/// Whether `name` is one that temporary_file makes for `final_name`: .NAME.PROCESS.COUNTER.tmp
SINTER_COLD inline bool is_temporary_of(std::string_view name, std::string_view final_name) {
    const auto skip = [&](std::string_view text) {
        const bool there = name.starts_with(text);
        if (there) name.remove_prefix(text.size());
        return there;
    };
    const auto skip_digits = [&] {
        const std::size_t n = std::min(name.find_first_not_of("0123456789"), name.size());
        name.remove_prefix(n);
        return n > 0;
    };
    return skip(".") && skip(final_name.substr(0, longest_stem)) && skip(".") && skip_digits() && skip(".") &&
           skip_digits() && name == ".tmp";
}

/// Removes what killed writers of `final_name` have left in the open folder. A writer holds a lock
/// on its temporary file until it is renamed, and the system ends the lock with its process. So
/// what can be locked belongs to nobody. Where the file system knows no locks, and where a file
/// cannot be opened, it stays. Never throws: saving does not depend on it.
SINTER_COLD inline void remove_stale_temporaries(int folder, std::string_view final_name) noexcept {
    os::folder_names names(folder);
    while (const char* const name = names.next()) {
        if (!is_temporary_of(name, final_name)) continue;
        const descriptor fd = os::open_to_read(folder, name);
        if (fd && os::status_of(fd.get()).is_regular() && os::try_lock(fd.get())) os::remove_file(folder, name);
    }
}

/// A file under a name of its own in an open folder, locked; unlinked again unless it was renamed
/// to its final name.
class temporary_file {
public:
    SINTER_COLD temporary_file(int folder, const std::string& final_name, unsigned mode, const std::string& path)
        : folder_(folder) {
        static std::atomic<unsigned> counter{0};
        for (;;) {
            name_ = to_text({".", std::string_view(final_name).substr(0, longest_stem), ".", os::process_number(), ".",
                            counter.fetch_add(1), ".tmp"});
            fd_ = os::make_file(folder, name_, mode);
            const int fault = errno;
            if (fd_) {
                // A second descriptor of the same open file keeps the lock while, and after, the
                // first is closed.
                lock_ = os::duplicate(fd_.get());
                const bool locked = lock_ && os::try_lock(lock_.get());
                const bool taken = !locked && errno == EWOULDBLOCK;
                if (!taken && os::status_of(fd_.get()).names > 0) return;
                continue;   // between creation and lock another writer took it for a dead one's: the next name
            }
            if (fault == EEXIST) continue; // left by a process that was killed
            name_.clear();
            throw_io_error(fault, "cannot create a temporary file beside", path);
        }
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() {
        if (!name_.empty()) os::remove_file(folder_, name_.c_str());
    }

    const std::string& name() const noexcept { return name_; }
    descriptor take_descriptor() noexcept { return std::move(fd_); }
    void rename_to(const std::string& final_name, const std::string& path) {
        if (!os::rename_file(folder_, name_, final_name))
            throw_io_error(errno, "cannot rename the temporary file", path);
        name_.clear();
    }

private:
    int folder_;
    std::string name_;
    descriptor fd_, lock_;
};
} // namespace detail

SINTER_SELDOM_BODY void atomic_write(const std::string& given_path, base::function_ref<void(output_file&)> fill,
                                     publish_function publish) {
    need_whole_path(given_path);
    const std::string path = detail::behind_links(given_path);
    const std::size_t slash = path.rfind('/');
    const std::string folder_name = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (name.empty()) throw io_error("cannot write", path, "a path that ends in a folder", "the name of a file");

    descriptor folder = os::open_folder(folder_name);
    if (!folder && errno == ENOENT) {
        make_folders(folder_name);
        folder = os::open_folder(folder_name);
    }
    if (!folder) throw_io_error(errno, "cannot open the folder to write in", path);

    unsigned mode = 0666;
    const os::file_status old = os::status_of(folder.get(), name);
    const bool replaces{old};
    if (replaces && !old.is_regular()) // a rename would remove the device node itself
        throw io_error("cannot replace", path, old.is_folder() ? "a folder" : "a device or pipe",
                       "a regular file");
    if (replaces) mode = old.mode;
    detail::remove_stale_temporaries(folder.get(), name);

    detail::temporary_file temporary(folder.get(), name, mode, path);
    // A rename asks only for a folder that may be written. Programs that open the file would be
    // refused.
    if (replaces && ((mode & 0222) == 0 || !os::may_write(folder.get(), name))) {
        const char octal[] = {'0', static_cast<char>('0' + (mode >> 6 & 7)), static_cast<char>('0' + (mode >> 3 & 7)),
                              static_cast<char>('0' + (mode & 7)), 0};
        throw io_error("cannot replace", path, to_text({"a write-protected file (mode ", octal, ")"}),
                       "a file that may be written (chmod u+w), or another name");
    }
    output_file out(temporary.take_descriptor(), path);
    fill(out);
    if (replaces && !os::set_mode(folder.get(), temporary.name(), mode))
        throw_io_error(errno, "cannot keep the permissions", path);
    out.sync_and_close();
    publish([&] { temporary.rename_to(name, path); });
    // Some file systems cannot sync a folder and need not; they answer EINVAL.
    if (!os::sync(folder.get()) && errno != EINVAL)
        throw_io_error(errno, "written, but its folder cannot be synced: it may be lost in a power cut", path);
}

SINTER_SELDOM_BODY void atomic_write(const std::string& path, base::function_ref<void(output_file&)> fill) {
    atomic_write(path, fill, [](base::function_ref<void()> rename) { rename(); });
}
#endif

} // namespace sinter::io
