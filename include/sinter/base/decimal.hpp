// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string>
#if SINTER_BODIES
#include <charconv>
#endif

/// Numbers as decimal text for files, pages and tables. The decimal sign is a point whatever
/// setlocale() or std::locale::global() was given: printf, std::to_string and streams would write a
/// comma under a German locale, which no reader of SVG, JSON or CSV understands.
namespace sinter::base {

/// As printf's "%.*f": `decimals` (0 to 20) digits after the point.
SINTER_APART std::string fixed_text(double value, int decimals);
/// As printf's "%.*g": `digits` (1 to 20) significant ones, with an exponent where the number is
/// very large or small.
SINTER_APART std::string general_text(double value, int digits);

#if SINTER_BODIES
SINTER_COLD SINTER_APART std::string fixed_text(double value, int decimals) {
    char text[352];   // the largest double has 309 digits before its point
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr};
}

SINTER_COLD SINTER_APART std::string general_text(double value, int digits) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr};
}
#endif

} // namespace sinter::base
