// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <string>
#include <string_view>
#if SINTER_BODIES
#include <sinter/base/decimal.hpp>
#include <sinter/io/atomic_write.hpp>
#endif

/// The little of SVG 1.1 that charts need. Pictures stand alone: no script, no style sheet, no font
/// of their own.
namespace sinter::inline SINTER_ORDINARY::svg {

/// A coordinate or short number: at most two decimals, no trailing zeros.
SINTER_APART std::string number(double v);

/// Text as XML content or attribute value; control characters, which XML 1.0 forbids, become
/// spaces.
SINTER_APART std::string escaped(std::string_view text);

enum class anchor { start, middle, end };

/// One line of text; `more` holds further attributes, such as a weight or a rotation.
SINTER_APART std::string text(double x, double y, double size, anchor at, std::string_view colour,
                              std::string_view content, std::string_view more = {});
SINTER_APART std::string line(double x1, double y1, double x2, double y2, std::string_view colour, double width = 1);
SINTER_APART std::string rectangle(double x, double y, double w, double h, std::string_view fill);
/// A whole picture on white, `title` for screen readers.
SINTER_APART std::string document(double w, double h, std::string_view title, std::string_view content);

/// Writes a picture; the whole file, or with an io_error none of it.
SINTER_APART void write(const std::string& path, std::string_view picture);

inline constexpr const char* ink = "#222222";
inline constexpr const char* faint_ink = "#666666";
inline constexpr const char* grid = "#e4e4e4";

#if SINTER_BODIES
SINTER_APART void write(const std::string& path, std::string_view picture) {
    io::atomic_write(path, [&](io::output_file& file) { file.write(picture); });
}

SINTER_APART std::string number(double v) {
    std::string s = base::fixed_text(v, 2);
    while (s.back() == '0') s.pop_back();
    if (s.back() == '.') s.pop_back();
    return s == "-0" ? "0" : s;
}

SINTER_APART std::string escaped(std::string_view text) {
    std::string s;
    for (char c : text) {
        if (c == '&') s += "&amp;";
        else if (c == '<') s += "&lt;";
        else if (c == '>') s += "&gt;";
        else if (c == '"') s += "&quot;";
        else s += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return s;
}

SINTER_APART std::string text(double x, double y, double size, anchor at, std::string_view colour,
                              std::string_view content, std::string_view more) {
    const char* const names[] = {"start", "middle", "end"};
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" + number(size) + "\" text-anchor=\"" +
           names[static_cast<int>(at)] + "\" fill=\"" + std::string(colour) + "\"" + (more.empty() ? "" : " ") +
           std::string(more) + ">" + escaped(content) + "</text>\n";
}

SINTER_APART std::string line(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
    return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
           "\" stroke=\"" + std::string(colour) + "\" stroke-width=\"" + number(width) + "\"/>\n";
}

SINTER_APART std::string rectangle(double x, double y, double w, double h, std::string_view fill) {
    return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(w) + "\" height=\"" + number(h) +
           "\" fill=\"" + std::string(fill) + "\"/>\n";
}

SINTER_APART std::string document(double w, double h, std::string_view title, std::string_view content) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(w) + "\" height=\"" + number(h) +
           "\" viewBox=\"0 0 " + number(w) + " " + number(h) +
           "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" role=\"img\">\n<title>" + escaped(title) +
           "</title>\n" + rectangle(0, 0, w, h, "#ffffff") + std::string(content) + "</svg>\n";
}
#endif

} // namespace sinter::svg
