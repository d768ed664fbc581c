// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/extents.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/image.hpp>
#include <sinter/io/printable.hpp>

/// PGM, the plainest grey format (netpbm.sourceforge.net/doc/pgm.html): P2 as text, P5 as bytes, 8
/// or 16 bits.
namespace sinter::inline SINTER_ORDINARY::io {

/// Reads one PGM from memory; values are divided by its maximum. Throws format_error on another
/// format, numbers out of range, too few samples, samples over the maximum, and trailing bytes.
SINTER_APART grey_image parse_pgm(span<const std::byte> bytes, std::string_view name);

/// Reads the PGM file at `path`; throws io_error where it cannot be read, and as parse_pgm does.
SINTER_APART grey_image read_pgm(const std::string& path);

#if SINTER_BODIES
namespace detail {
/// Reads the numbers of a PGM: decimal, separated by white space and by comments from '#' to the
/// line's end.
class pgm_cursor {
public:
    pgm_cursor(span<const std::byte> bytes, std::string_view name)
        : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), name_(name), at_(2) {}

    std::uint32_t number(const char* what, std::uint32_t smallest, std::uint32_t largest) {
        skip_space();
        const std::size_t begin = at_;
        std::uint64_t value = 0;
        // Stops growing beyond any limit, so that no run of digits can overflow.
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
            value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(text_[at_] - '0'), UINT32_MAX);
        if (at_ == begin || value < smallest || value > largest)
            throw format_error(std::string("PGM has no usable ") + what,
                               std::string(name_) + ", byte " + std::to_string(begin),
                               begin < text_.size() ? printable(text_.substr(begin, 16)) : "the end of the file",
                               "a number from " + std::to_string(smallest) + " to " + std::to_string(largest));
        return static_cast<std::uint32_t>(value);
    }
    /// The one white-space byte between the header and the bytes of a P5.
    void single_space() {
        if (at_ >= text_.size() || !is_space(text_[at_]))
            throw format_error("PGM header does not end", std::string(name_) + ", byte " + std::to_string(at_),
                               at_ < text_.size() ? printable(text_.substr(at_, 16)) : "the end of the file",
                               "one white-space byte");
        ++at_;
    }
    void skip_space() {
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '#') at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
            if (at_ == text_.size() || !is_space(text_[at_])) return;
        }
    }
    std::size_t at() const noexcept { return at_; }
    std::size_t left() const noexcept { return text_.size() - at_; }

private:
    static constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    std::string_view text_, name_;
    std::size_t at_;
};
} // namespace detail

SINTER_APART grey_image parse_pgm(span<const std::byte> bytes, std::string_view name) {
    const bool is_p = bytes.size() >= 2 && bytes[0] == std::byte{'P'};
    const char kind = is_p ? static_cast<char>(bytes[1]) : '\0';
    if (kind != '2' && kind != '5')
        throw format_error(
            "not a PGM file", std::string(name) + ", bytes 0 and 1",
            printable({reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 2)}),
            "P2 or P5");
    detail::pgm_cursor in(bytes, name);
    const std::uint32_t width = in.number("width", 1, INT32_MAX);
    const std::uint32_t height = in.number("height", 1, INT32_MAX);
    const std::uint32_t maximum = in.number("maximum", 1, 65535);
    if (kind == '5') in.single_space();

    const std::uint64_t samples = std::uint64_t{width} * height; // both below 2^31
    const std::uint64_t sample_bytes = maximum < 256 ? 1 : 2;
    // Text needs a digit for each sample and a space between two, so `needed` bounds the allocation
    // in both kinds.
    const std::uint64_t needed = kind == '5' ? samples * sample_bytes : 2 * samples - 1;
    if (needed > in.left() || (kind == '5' && needed != in.left()))
        throw format_error(needed > in.left() ? "PGM is cut short" : "bytes follow the last sample",
                           std::string(name) + ", from byte " + std::to_string(in.at()),
                           std::to_string(in.left()) + " bytes",
                           std::to_string(needed) + " for " + std::to_string(width) + " x " + std::to_string(height));

    grey_image out{width, height, std::vector<float>(static_cast<std::size_t>(samples))};
    std::size_t at = in.at();
    for (float& pixel : out.pixels) {
        std::uint32_t value = 0;
        if (kind == '2') {
            value = in.number("sample", 0, maximum);
        } else {
            for (std::uint64_t i = 0; i < sample_bytes; ++i)
                value = value << 8 | std::to_integer<std::uint32_t>(bytes[at++]);
            if (value > maximum)
                throw format_error("PGM sample is over the maximum",
                                   std::string(name) + ", byte " + std::to_string(at - sample_bytes),
                                   std::to_string(value), "at most " + std::to_string(maximum));
        }
        pixel = static_cast<float>(value) / static_cast<float>(maximum);
    }
    if (kind == '2') {
        in.skip_space();
        if (in.left() != 0)
            throw format_error("bytes follow the last sample", std::string(name) + ", byte " + std::to_string(in.at()),
                               std::to_string(in.left()) + " bytes", "none");
    }
    return out;
}

SINTER_APART grey_image read_pgm(const std::string& path) { return parse_pgm(read_whole_file(path), path); }
#endif

} // namespace sinter::io
