// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/printable.hpp>
#include <sinter/base/utf8.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::io {

/// Untrusted JSON (RFC 8259): safetensors headers, TF_CONFIG. Strict: the caller asks for what
/// it expects, so depth is bounded by the format, not by the text; what is of no interest is
/// skipped down to a bounded depth.
///
/// Why not Boost.JSON: its header takes 1.8 s to compile (g++ 12) where this takes 0.05 s beyond
/// <string>, Debian 12's default Boost (1.74) is older than it, and it silently keeps the last of
/// two equal keys, which a reader of untrusted files must refuse.
class json_reader {
public:
    /// `text` must be UTF-8; `text_at` is its offset in the file `file`, for error messages, which
    /// call the text `what`.
    json_reader(std::string_view text, std::string_view file, std::size_t text_at, std::string_view what)
        : text_(text), file_(file), text_at_(text_at), what_(what) {}

    /// The first character of the next value or sign, which says what it is; 0 at the end.
    SINTER_SELDOM char peek();

    /// Calls `member(key)` for each member; `member` must consume the value.
    template <class Member>
    void object(Member&& member) {
        expect('{');
        if (accept('}')) return;
        do {
            std::string key = string();
            expect(':');
            member(std::move(key));
        } while (accept(','));
        expect('}');
    }

    /// Calls `element()` for each element; `element` must consume it.
    template <class Element>
    void array(Element&& element) {
        expect('[');
        if (accept(']')) return;
        do element();
        while (accept(','));
        expect(']');
    }

    SINTER_SELDOM std::uint64_t integer();

    /// Any number or literal (true, false, null), as it is written.
    SINTER_SELDOM std::string_view scalar();

    /// Passes over a value, whose objects and arrays may be nested `deepest` times.
    SINTER_SELDOM void skip(int deepest = 32);

    SINTER_SELDOM std::string string();

    /// Nothing but white space may be left.
    SINTER_SELDOM void end();

    /// Throws format_error: at `position` in the text, something other than `needed` was found.
    [[noreturn]] SINTER_APART SINTER_COLD void fail(std::string needed, std::size_t position) const;
    [[noreturn]] void fail(std::string needed) const { fail(std::move(needed), at_); }

private:
    static constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }
    static constexpr bool is_fraction_sign(char c) { return c == '.' || c == 'e' || c == 'E'; }

    SINTER_SELDOM void skip_space();
    SINTER_SELDOM bool accept(char c);
    SINTER_SELDOM bool take(std::string_view any_of);
    void expect(char c) {
        if (!accept(c)) fail(std::string(1, c), at_);
    }

    SINTER_SELDOM void escape(std::string& out);
    SINTER_SELDOM std::uint32_t unicode_escape(std::size_t begin);
    SINTER_SELDOM std::uint32_t four_hex_digits(std::size_t begin);

    std::string_view text_, file_;
    std::size_t text_at_, at_ = 0;
    std::string_view what_;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY char json_reader::peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
}

SINTER_SELDOM_BODY std::uint64_t json_reader::integer() {
    skip_space();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
        if (value > (UINT64_MAX - digit) / 10) fail("an integer below 2^64", begin);
        value = value * 10 + digit;
    }
    const bool is_number = at_ > begin && (text_[begin] != '0' || at_ == begin + 1);
    if (!is_number || (at_ < text_.size() && is_fraction_sign(text_[at_]))) fail("a non-negative integer", begin);
    return value;
}

SINTER_SELDOM_BODY std::string_view json_reader::scalar() {
    skip_space();
    const std::size_t begin = at_;
    for (const std::string_view word : {"true", "false", "null"})
        if (text_.substr(at_, word.size()) == word) return at_ += word.size(), word;
    const auto digits = [&] {
        const std::size_t first = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        if (at_ == first) fail("a value", begin);
        return first;
    };
    take("-");
    const std::size_t first = digits();
    if (text_[first] == '0' && at_ > first + 1) fail("a number without leading zeros", begin);
    if (take(".")) digits();
    if (take("eE")) {
        take("+-");
        digits();
    }
    return text_.substr(begin, at_ - begin);
}

SINTER_SELDOM_BODY void json_reader::skip(int deepest) {
    const char c = peek();
    if ((c == '{' || c == '[') && deepest == 0) fail("less deeply nested objects and arrays");
    if (c == '{') object([&](std::string&&) { skip(deepest - 1); });
    else if (c == '[') array([&] { skip(deepest - 1); });
    else if (c == '"') string();
    else scalar();
}

SINTER_SELDOM_BODY std::string json_reader::string() {
    expect('"');
    std::string out;
    for (;;) {
        // Take everything up to the next special character at once.
        std::size_t end = at_;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\\' && !is_control(text_[end])) ++end;
        out += text_.substr(at_, end - at_);
        at_ = end;
        if (at_ == text_.size() || is_control(text_[at_])) fail("a closing quote", at_);
        if (text_[at_++] == '"') return out;
        escape(out);
    }
}

SINTER_SELDOM_BODY void json_reader::end() {
    skip_space();
    if (at_ != text_.size()) fail("only spaces after the closing brace", at_);
}

SINTER_APART void json_reader::fail(std::string needed, std::size_t position) const {
    const std::string_view got = text_.substr(std::min(position, text_.size()), 24);
    if (got.starts_with('#') || got.starts_with("//")) needed += " (JSON has no comments)";
    throw format_error(std::string(what_) + " is not the JSON it must be",
                       std::string(file_) + ", byte " + std::to_string(text_at_ + position),
                       got.empty() ? "the " + std::string(what_) + "'s end" : printable(got), std::move(needed));
}

SINTER_SELDOM_BODY void json_reader::skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
        ++at_;
}

SINTER_SELDOM_BODY bool json_reader::accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

SINTER_SELDOM_BODY bool json_reader::take(std::string_view any_of) {
    const bool there = at_ < text_.size() && any_of.find(text_[at_]) != any_of.npos;
    at_ += there;
    return there;
}

SINTER_SELDOM_BODY void json_reader::escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const std::size_t begin = at_ - 1;
    const char letter = at_ < text_.size() ? text_[at_++] : '\0';
    if (letter == 'u') return append_utf8(out, unicode_escape(begin));
    const std::size_t which = letters.find(letter);
    if (which == std::string_view::npos) fail("an escape that JSON knows", begin);
    out += meanings[which];
}

SINTER_SELDOM_BODY std::uint32_t json_reader::unicode_escape(std::size_t begin) {
    const std::uint32_t first = four_hex_digits(begin);
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || text_.substr(at_, 2) != "\\u") fail("a pair of surrogates", begin);
    at_ += 2;
    const std::uint32_t second = four_hex_digits(begin);
    if (second < 0xdc00 || second > 0xdfff) fail("a pair of surrogates", begin);
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

SINTER_SELDOM_BODY std::uint32_t json_reader::four_hex_digits(std::size_t begin) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) fail("four hexadecimal digits", begin);
        value = value << 4 | static_cast<std::uint32_t>(digit);
    }
    return value;
}
#endif

} // namespace sinter::io
