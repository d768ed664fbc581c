// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/byte_source.hpp>
#include <sinter/io/file_from.hpp>
#include <memory>
#if SINTER_BODIES
#include <sinter/io/gzip.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::io {

/// A regular file from one of its bytes on; a gzip file (by its first two bytes) as what it unpacks to. That has no
/// place to begin at but its beginning: what lies before is unpacked, and thrown away.
class unpacked_file final : public byte_source {
public:
    /// Throws io_error where `path` cannot be opened or is no regular file, option_error where there is less than
    /// `begin` bytes, format_error where gzip's data do not hold. A gzip file that unpacks to more than
    /// `most_unpacked` bytes is a format_error when so much was read.
    SINTER_APART explicit unpacked_file(std::string path, std::uint64_t begin = 0,
                                        std::uint64_t most_unpacked = UINT64_MAX);

    /// Bytes of the file itself.
    std::uint64_t size() const { return file_->size(); }
    bool is_packed() const { return unpacking_ != nullptr; }

    SINTER_APART std::size_t read_some(span<std::byte> to) override;
    std::uint64_t at_most_left() const override {
        return unpacking_ ? unpacking_->at_most_left() : file_->at_most_left();
    }
    const std::string& name() const override { return file_->name(); }

private:
    std::unique_ptr<file_from> file_;
    std::unique_ptr<byte_source> unpacking_;   // reads from file_
    std::uint64_t unpacked_ = 0, most_unpacked_;

    SINTER_APART SINTER_COLD void pass_over(std::uint64_t n);
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART unpacked_file::unpacked_file(std::string path, std::uint64_t begin,
                                                      std::uint64_t most_unpacked)
    : file_(std::make_unique<file_from>(path, 0)), most_unpacked_(most_unpacked) {
    std::byte first[2] = {};
    file_->read_up_to({first, 2});
    const bool packed = first[0] == std::byte{0x1f} && first[1] == std::byte{0x8b};
    file_ = std::make_unique<file_from>(std::move(path), packed ? 0 : begin);
    if (!packed) return;
    unpacking_ = std::make_unique<gzip_source>(*file_);
    pass_over(begin);
}

SINTER_APART std::size_t unpacked_file::read_some(span<std::byte> to) {
    if (!unpacking_) return file_->read_some(to);
    const std::size_t n = unpacking_->read_some(to);
    unpacked_ += n;
    if (unpacked_ > most_unpacked_)
        throw format_error("file unpacks to more than allowed", name(), to_text({unpacked_, " bytes or more"}),
                           to_text({"at most ", most_unpacked_, " (option most_unpacked_bytes)"}));
    return n;
}

SINTER_APART void unpacked_file::pass_over(std::uint64_t n) {
    const auto unused = std::make_unique_for_overwrite<std::byte[]>(std::size_t{1} << 16);
    while (unpacked_ < n) {
        const std::uint64_t left = n - unpacked_, most = std::uint64_t{1} << 16;
        if (read_some({unused.get(), static_cast<std::size_t>(left < most ? left : most)}) == 0)
            throw option_error("file ends before the byte to begin with", name(), to_text({"byte ", n}),
                               to_text({"0 to ", unpacked_}));
    }
}
#endif

} // namespace sinter::io
