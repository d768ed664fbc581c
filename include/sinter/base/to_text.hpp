// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace sinter {

/// A piece of text that lives elsewhere, or an integer's digits.
class text_piece {
public:
    text_piece(std::string_view s) : at_(s.data()), length_(s.size()) {}
    text_piece(const char* s) : text_piece(std::string_view(s)) {}
    text_piece(const std::string& s) : text_piece(std::string_view(s)) {}
    template <std::integral N>
        requires(!std::same_as<N, char> && !std::same_as<N, bool>)
    text_piece(N n) {
            if constexpr (std::is_signed_v<N>)
                write(n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n), n < 0);
            else write(n, false);
    }

    std::string_view view() const {
        return length_ ? std::string_view(at_, length_) : std::string_view(digits_ + first_, most - first_);
    }

private:
    static constexpr std::size_t most = 20;   // 2^64 - 1 has as many digits, -2^63 one less and a sign
    const char* at_ = nullptr;
    std::size_t length_ = 0, first_ = most;
    char digits_[most];

    SINTER_APART void write(std::uint64_t n, bool negative);
};

/// One string of many pieces: `to_text({"0 to ", n - 1})`. Each + of strings would be compiled into
/// where it stands.
SINTER_APART std::string to_text(std::initializer_list<text_piece> pieces);

#if SINTER_BODIES
SINTER_COLD SINTER_APART void text_piece::write(std::uint64_t n, bool negative) {
    do digits_[--first_] = static_cast<char>('0' + n % 10);
    while (n /= 10);
    if (negative) digits_[--first_] = '-';
}

SINTER_COLD SINTER_APART std::string to_text(std::initializer_list<text_piece> pieces) {
    std::string all;
    for (const text_piece& p : pieces) all += p.view();
    return all;
}
#endif

} // namespace sinter
