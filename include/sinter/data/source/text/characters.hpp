// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/printable.hpp>
#include <sinter/base/utf8.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

/// A text file, which must be UTF-8; io_error where it cannot be read, format_error where it is
/// other than text.
SINTER_APART std::string read_text(const std::string& path);

/// The characters of a text and their numbers: 0, 1, ... in the order of their code points. A
/// character is a Unicode code point; text goes in and out as UTF-8.
class characters {
public:
    /// Those that occur in `text`; data_error where it is not UTF-8, or empty.
    SINTER_APART explicit characters(std::string_view text);

    int size() const { return static_cast<int>(codes_.size()); }
    /// All of them as one text, from which the same vocabulary can be made again.
    SINTER_APART std::string text() const;
    /// The number of each character; data_error names the first that is unknown, or bytes that are
    /// not UTF-8.
    SINTER_APART std::vector<std::int32_t> encode(std::string_view text) const;
    /// The text that encode would turn into these numbers; data_error names the first that is out
    /// of range.
    SINTER_APART std::string decode(span<const std::int32_t> numbers) const;

private:
    std::vector<std::uint32_t> codes_;   // ascending
    std::int32_t ascii_[128] = {};       // their numbers, or -1

    static void check(std::string_view text) {
        if (!base::is_utf8(text)) throw data_error("not UTF-8 text", "characters", {}, "text in UTF-8");
    }
    /// The code point at `at` of what is known to be UTF-8; moves behind it.
    SINTER_APART static std::uint32_t next(std::string_view text, std::size_t& at);
    SINTER_APART std::int32_t number(std::uint32_t code) const;
};

#if SINTER_BODIES
SINTER_APART std::string read_text(const std::string& path) {
    const std::vector<std::byte> bytes = io::read_whole_file(path);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!base::is_utf8(text)) throw format_error("not UTF-8 text", path);
    return text;
}

SINTER_APART characters::characters(std::string_view text) {
    check(text);
    if (text.empty()) throw data_error("a text without characters", "characters", "0 bytes", "at least one");
    for (std::size_t at = 0; at < text.size();) {
        const std::uint32_t code = next(text, at);
        if (code < 128) {   // nearly all of most texts: the sort below then has little to do
            if (ascii_[code] == 0) codes_.push_back(code);
            ascii_[code] = 1;
        } else if (codes_.empty() || codes_.back() != code) {
            codes_.push_back(code);
        }
    }
    std::sort(codes_.begin(), codes_.end());
    codes_.erase(std::unique(codes_.begin(), codes_.end()), codes_.end());
    codes_.shrink_to_fit();
    for (std::int32_t& n : ascii_) n = -1;
    for (std::size_t i = 0; i < codes_.size() && codes_[i] < 128; ++i)
        ascii_[codes_[i]] = static_cast<std::int32_t>(i);
}

SINTER_APART std::string characters::text() const {
    std::string all;
    for (const std::uint32_t c : codes_) base::append_utf8(all, c);
    return all;
}

SINTER_APART std::vector<std::int32_t> characters::encode(std::string_view text) const {
    check(text);
    std::vector<std::int32_t> numbers;
    numbers.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const std::int32_t n = number(next(text, at));
        if (n < 0)
            throw data_error("unknown character", "byte " + std::to_string(begin) + " of the text",
                             io::printable(text.substr(begin, at - begin)),
                             "one of the " + std::to_string(size()) + " of the vocabulary");
        numbers.push_back(n);
    }
    return numbers;
}

SINTER_APART std::string characters::decode(span<const std::int32_t> numbers) const {
    std::string text;
    text.reserve(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] < 0 || numbers[i] >= size())
            throw data_error("no such character", "number " + std::to_string(i), std::to_string(numbers[i]),
                             "0 to " + std::to_string(size() - 1));
        base::append_utf8(text, codes_[static_cast<std::size_t>(numbers[i])]);
    }
    return text;
}

SINTER_APART std::uint32_t characters::next(std::string_view text, std::size_t& at) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    if (lead < 0x80) return lead;
    const int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    std::uint32_t code = lead & (0x3fu >> more);
    for (int i = 0; i < more; ++i) code = code << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fu);
    return code;
}

SINTER_APART std::int32_t characters::number(std::uint32_t code) const {
    if (code < 128) return ascii_[code];
    const auto found = std::lower_bound(codes_.begin(), codes_.end(), code);
    return found != codes_.end() && *found == code ? static_cast<std::int32_t>(found - codes_.begin()) : -1;
}
#endif

} // namespace sinter::data
