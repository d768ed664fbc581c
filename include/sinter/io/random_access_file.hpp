// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/checksum.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/file.hpp>

namespace sinter::inline SINTER_ORDINARY::io {

/// A regular file that need not fit in memory: its bytes are read where one likes, as often as one
/// likes.
///
/// What holds where another process changes it meanwhile: of each block that was read a checksum
/// stays here (1/512 of the file). The same block has the same bytes again, or reading it is an
/// io_error, as it is of a file that has become shorter. So whatever was checked once is what is
/// used later. A mapped file could not promise that: its bytes change unseen, and one that becomes
/// shorter ends the program by a signal. A file that is replaced as atomic_write.hpp does it stays
/// what it was, and on the disk, until this object ends.
///
/// What does not hold: a block that was not read yet has whatever the file then has; and 64 bits
/// without a key are against accidents, not against somebody who looks for two blocks of one
/// checksum. From one thread at a time.
class random_access_file {
public:
    static constexpr std::size_t block_bytes = 4096;

    /// What was read last for one reader: who goes on there does not read it again.
    class window {
        friend random_access_file;
        std::vector<std::byte> bytes_;
        std::uint64_t block_ = UINT64_MAX;
    };

    /// Throws io_error where `path` cannot be opened or is no regular file.
    SINTER_COLD explicit random_access_file(std::string path)
        : path_(std::move(path)), file_(open_regular_file(path_)) {}

    const std::string& path() const noexcept { return path_; }
    /// Bytes in the file when it was opened.
    std::uint64_t size() const noexcept { return file_.size; }
    /// Whether an error has said that it is no longer what it was.
    bool has_changed() const noexcept { return changed_; }

    /// Fills `to` with the bytes from `at` on; at + to.size() is at most size(). Throws io_error.
    SINTER_SELDOM void read(std::uint64_t at, span<std::byte> to, window& w);

private:
    std::string path_;
    opened_file file_;
    std::vector<std::uint64_t> sums_;   ///< of blocks, as far as any was read; odd, or 0: not that one
    bool changed_ = false;

    SINTER_SELDOM SINTER_COLD void fetch(std::uint64_t block, window& w);
    [[noreturn]] SINTER_APART SINTER_COLD void refuse(const char* what, std::string got, std::string needed);
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void random_access_file::read(std::uint64_t at, span<std::byte> to, window& w) {
    while (!to.empty()) {
        const std::uint64_t block = at / block_bytes;
        if (w.block_ != block) fetch(block, w);
        const auto from = static_cast<std::size_t>(at % block_bytes);
        const std::size_t n = std::min(to.size(), w.bytes_.size() - from);
        std::memcpy(to.data(), w.bytes_.data() + from, n);
        to = to.subspan(n);
        at += n;
    }
}

SINTER_SELDOM_BODY void random_access_file::fetch(std::uint64_t block, window& w) {
    const std::uint64_t begin = block * block_bytes;
    w.block_ = UINT64_MAX;   // it has nothing if this throws
    w.bytes_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, size() - begin)));
    for (std::size_t done = 0; done < w.bytes_.size();) {
        const auto n =
            os::read_some_at(file_.fd.get(), begin + done, {w.bytes_.data() + done, w.bytes_.size() - done});
        if (n < 0) throw_io_error(errno, "cannot read", path_, to_text({"bytes from ", begin + done, " on"}));
        if (n == 0) refuse("file became shorter while it was read", to_text({begin + done, " bytes"}),
                           to_text({size(), " bytes"}));
        done += static_cast<std::size_t>(n);
    }
    const std::uint64_t sum = base::checksum::of({w.bytes_.data(), w.bytes_.size()}) | 1;
    if (block >= sums_.size()) sums_.resize(static_cast<std::size_t>(block) + 1);
    std::uint64_t& before = sums_[static_cast<std::size_t>(block)];
    if (before != 0 && before != sum)
        refuse("file was changed while it was read", to_text({"other bytes from ", begin, " on"}),
               "those of before");
    before = sum;
    w.block_ = block;
}

SINTER_APART void random_access_file::refuse(const char* what, std::string got, std::string needed) {
    changed_ = true;
    throw io_error(what, path_, std::move(got), std::move(needed));
}
#endif

} // namespace sinter::io
