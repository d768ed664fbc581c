// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/extents.hpp>
#include <sinter/io/npy/dtype.hpp>
#include <sinter/io/printable.hpp>

#include <utility>
#include <vector>

/// The header of an .npy file after its length: a Python dictionary of three entries, as text
/// (NumPy Enhancement Proposal 1; numpy/lib/_format_impl.py).
namespace sinter::inline SINTER_ORDINARY::npy {

/// NumPy's own limit on axes; a hostile header must not ask for more.
inline constexpr std::size_t most_axes = 64;

struct header {
    dtype type = dtype::f32;
    bool big_endian = false, fortran_order = false;
    std::vector<std::int64_t> shape;
};

/// Reads the dictionary `text`, which begins at byte `text_at` of `file`. Throws format_error where
/// it is malformed, lacks an entry or has others, or where the elements are no plain numbers.
SINTER_APART header read_header(std::string_view text, std::string_view file, std::size_t text_at);

#if SINTER_BODIES
namespace detail {
/// The part of Python's literals that headers use. Strict, and without recursion.
class dictionary_reader {
public:
    dictionary_reader(std::string_view text, std::string_view file, std::size_t text_at)
        : text_(text), file_(file), text_at_(text_at) {}

    bool accept(char c) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(std::string(1, c));
    }
    std::string_view string() {
        const char quote = accept('"') ? '"' : '\'';
        if (quote == '\'') expect('\'');
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) fail("a closing quote");
        const std::size_t begin = std::exchange(at_, end + 1);
        return text_.substr(begin, end - begin);
    }
    bool truth() {
        skip_spaces();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return value;
        }
        fail("True or False");
    }
    std::vector<std::int64_t> extents() {
        std::vector<std::int64_t> out;
        expect('(');
        while (!accept(')')) {
            out.push_back(integer());
            if (out.size() > most_axes) fail("at most " + std::to_string(most_axes) + " extents");
            if (accept(',')) continue;
            if (out.size() == 1) fail("a comma after a lone extent");   // (3) is a number to Python, no tuple
            expect(')');
            break;
        }
        return out;
    }
    /// Nothing but spaces and the newline may be left.
    void end() {
        skip_spaces();
        if (at_ + 1 != text_.size() || text_[at_] != '\n') fail("only spaces and a newline after the closing brace");
    }
    [[noreturn]] void fail(std::string needed) const {
        throw format_error("header is not the dictionary that it must be",
                           std::string(file_) + ", byte " + std::to_string(text_at_ + at_),
                           at_ < text_.size() ? io::printable(text_.substr(at_, 24)) : "the header's end",
                           std::move(needed));
    }

private:
    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    std::int64_t integer() {
        skip_spaces();
        const std::size_t begin = at_;
        std::int64_t value = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            const std::int64_t digit = text_[at_] - '0';
            if (value > (INT64_MAX - digit) / 10) fail("an extent below 2^63");
            value = value * 10 + digit;
        }
        if (at_ == begin) fail("an extent");
        return value;
    }

    std::string_view text_, file_;
    std::size_t text_at_, at_ = 0;
};
} // namespace detail

SINTER_APART header read_header(std::string_view text, std::string_view file, std::size_t text_at) {
    detail::dictionary_reader in(text, file, text_at);
    header out;
    bool has_descr = false, has_order = false, has_shape = false;
    const auto first_time = [](bool& seen) { return !std::exchange(seen, true); };
    in.expect('{');
    while (!in.accept('}')) {
        const std::string_view key = in.string();
        in.expect(':');
        if (key == "descr" && first_time(has_descr)) {
            if (in.accept('[')) in.fail("a type of plain numbers, not of records");
            const std::string_view descr = in.string();
            const auto type = element_from_descr(descr);
            if (!type)
                throw format_error("elements cannot be read", std::string(file), io::printable(descr),
                                   "b1, u1, i1, u2, i2, f2, u4, i4, f4, u8, i8, f8 or c8 after a byte order");
            out.type = type->type;
            out.big_endian = type->big_endian;
        } else if (key == "fortran_order" && first_time(has_order)) {
            out.fortran_order = in.truth();
        } else if (key == "shape" && first_time(has_shape)) {
            out.shape = in.extents();
        } else {
            in.fail("descr, fortran_order and shape once each, not " + io::printable(key));
        }
        if (in.accept(',')) continue;
        in.expect('}');
        break;
    }
    in.end();
    if (!has_descr || !has_order || !has_shape) in.fail("all of descr, fortran_order and shape");
    return out;
}
#endif

} // namespace sinter::npy
