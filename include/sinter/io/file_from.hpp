// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/file.hpp>

namespace sinter::inline SINTER_ORDINARY::io {

/// A regular file from one of its bytes on: input_file begins with the first.
class file_from final : public byte_source {
public:
    /// Throws io_error where `path` cannot be opened or is no regular file, option_error where it has fewer bytes than
    /// `begin`.
    SINTER_APART file_from(std::string path, std::uint64_t begin);

    /// Bytes in the file when it was opened.
    std::uint64_t size() const noexcept { return file_.size; }

    SINTER_APART std::size_t read_some(span<std::byte> to) override;
    std::uint64_t at_most_left() const override { return size() > position_ ? size() - position_ : 0; }
    const std::string& name() const override { return path_; }

private:
    std::string path_;
    opened_file file_;
    std::uint64_t position_;
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART file_from::file_from(std::string path, std::uint64_t begin)
    : path_(std::move(path)), file_(open_regular_file(path_)), position_(begin) {
    if (begin > size())
        throw option_error("file ends before the byte to begin with", path_, to_text({"byte ", begin}),
                           to_text({"0 to ", size()}));
}

SINTER_APART std::size_t file_from::read_some(span<std::byte> to) {
    if (to.empty()) return 0;
    const auto n = os::read_some_at(file_.fd.get(), position_, to);
    if (n < 0) throw_io_error(errno, "cannot read", path_, to_text({"bytes from ", position_, " on"}));
    position_ += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
}
#endif

} // namespace sinter::io
