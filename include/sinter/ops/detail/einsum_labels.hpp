// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/shape.hpp>

/// What an einsum's string says, for operands of given ranks.
namespace sinter::inline SINTER_TARGET::ops {

/// The labels of a tensor's axes: letters, and for the axes of an ellipsis numbers below 'A',
/// counted from its end.
struct axis_labels {
    int n = 0;
    char c[max_rank] = {};

    constexpr int find(char label) const {
        for (int i = 0; i < n; ++i)
            if (c[i] == label) return i;
        return -1;
    }
    constexpr int count(char label) const {
        int times = 0;
        for (int i = 0; i < n; ++i) times += c[i] == label;
        return times;
    }
    constexpr bool has(char label) const { return find(label) >= 0; }
    constexpr bool add(char label) {   ///< false: no room for another axis
        if (n == max_rank) return false;
        c[n++] = label;
        return true;
    }
    constexpr bool operator==(const axis_labels&) const = default;
};

struct einsum_labels {
    static constexpr int most = 4;
    axis_labels in[most], out;
    int operands = 0, wrong_at = -1;   ///< wrong_at: the place in the string that cannot be, or -1

    constexpr einsum_labels(const char* s, const int* ranks, int count) : operands(count) { read(s, ranks, s); }

private:
    constexpr void read(const char* s, const int* ranks, const char* const begin) {
        int widest = 0;
        for (int k = 0; k < operands; ++k) {
            if (k && *s++ != ',') return refuse(s - 1, begin);
            int letters = 0, dots = 0;
            for (const char* p = s; is_letter(*p) || *p == '.' || *p == ' '; ++p)
                letters += is_letter(*p), dots += *p == '.';
            const int rest = ranks[k] - letters;   // axes that the ellipsis stands for
            if (rest < 0 || (rest > 0 && !dots)) return refuse(s, begin);
            widest = rest > widest ? rest : widest;
            if (!take(s, in[k], rest)) return refuse(s, begin);
        }
        if (!*s) return implied(widest);
        if (*s != '-' || s[1] != '>') return refuse(s, begin);
        s += 2;
        const char* const behind = s;
        if (!take(s, out, widest) || *s) return refuse(s, begin);
        for (const char* p = behind; *p; ++p)
            if (is_letter(*p) && (out.count(*p) > 1 || !anywhere(*p))) return refuse(p, begin);
    }
    static constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
    constexpr void refuse(const char* at, const char* begin) { wrong_at = static_cast<int>(at - begin); }
    constexpr bool anywhere(char label) const {
        for (int k = 0; k < operands; ++k)
            if (in[k].has(label)) return true;
        return false;
    }
    /// One operand's labels; `rest` axes for an ellipsis.
    static constexpr bool take(const char*& s, axis_labels& to, int rest) {
        for (bool dots = false; is_letter(*s) || *s == '.' || *s == ' '; ++s) {
            if (*s == ' ') continue;
            if (*s != '.') {
                if (!to.add(*s)) return false;
                continue;
            }
            if (dots || s[1] != '.' || s[2] != '.') return false;
            dots = true;
            s += 2;
            for (int i = rest; i > 0; --i)
                if (!to.add(static_cast<char>(i))) return false;
        }
        return true;
    }
    /// Without "->": the ellipsis, then the letters that stand in the string once, in the
    /// alphabet's order.
    constexpr void implied(int widest) {
        for (int i = widest; i > 0; --i) out.add(static_cast<char>(i));
        for (char c = 'A'; c <= 'z'; ++c) {
            int times = 0;
            for (int k = 0; k < operands; ++k) times += in[k].count(c);
            if (times == 1 && !out.add(c)) wrong_at = 0;
        }
    }
};

} // namespace sinter::ops
