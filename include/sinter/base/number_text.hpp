// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string>
#include <type_traits>
#if SINTER_BODIES
#include <cstdio>
#include <cstdlib>
#endif

namespace sinter::base {

/// number_text() of a double, or of the double that a float is.
SINTER_SELDOM SINTER_COLD std::string shortest_text(double x, bool is_float);

/// A number for a message, with as few digits as tell it from others of its type, and a point
/// whatever the locale (std::to_string has the locale's sign, and 0.000000 for 1e-9). By printf:
/// <charconv>, which base/decimal.hpp has, would be in every program.
template <class Float>
SINTER_COLD std::string number_text(Float x) {
    if constexpr (std::is_integral_v<Float>) return std::to_string(x);
    else return shortest_text(static_cast<double>(x), sizeof(Float) == 4);
}

#if SINTER_BODIES
SINTER_SELDOM_BODY std::string shortest_text(double x, bool is_float) {
    char text[64];
    for (const int digits : {is_float ? 6 : 15, is_float ? 9 : 17}) {
        std::snprintf(text, sizeof text, "%.*g", digits, x);
        const double read = std::strtod(text, nullptr);
        if (is_float ? static_cast<float>(read) == static_cast<float>(x) : read == x) break;
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
#endif

} // namespace sinter::base
