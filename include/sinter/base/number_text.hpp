// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace sinter::base {

/// A number for a message, with as few digits as tell it from others of its type, and a point
/// whatever the locale (std::to_string has the locale's sign, and 0.000000 for 1e-9). By printf:
/// <charconv>, which base/decimal.hpp has, would be in every program.
template <class Float>
SINTER_COLD std::string number_text(Float x) {
    if constexpr (std::is_integral_v<Float>) return std::to_string(x);
    char text[64];
    for (const int digits : {sizeof(Float) == 4 ? 6 : 15, sizeof(Float) == 4 ? 9 : 17}) {
        std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(x));
        if (static_cast<Float>(std::strtod(text, nullptr)) == x) break;
    }
    std::string out;
    bool sign = false;   // the last byte was one of the locale's decimal sign, which may have several
    for (const char* c = x == x ? text : "nan"; *c; ++c) {
        const bool other = !(*c >= '0' && *c <= '9') && !(*c >= 'a' && *c <= 'z') && *c != '-' && *c != '+';
        if (!other) out += *c;
        else if (!sign) out += '.';
        sign = other;
    }
    return out;
}

} // namespace sinter::base
