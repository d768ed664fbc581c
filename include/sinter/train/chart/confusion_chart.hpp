// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/train/metrics/confusion_matrix.hpp>
#if SINTER_BODIES
#include <sinter/train/chart/svg.hpp>
#include <cstdio>
#endif

namespace sinter::inline SINTER_ORDINARY {

/// A confusion matrix as a heat map: truth down, prediction across, each cell with its count and as
/// dark as its share of the row, and each row's recall beside it. Classes beyond `names` are called
/// by their numbers.
SINTER_APART std::string to_svg(const metrics::confusion_matrix& matrix, span<const std::string_view> names = {},
                                std::string_view title = "Confusion matrix");

#if SINTER_BODIES
SINTER_APART std::string to_svg(const metrics::confusion_matrix& matrix, span<const std::string_view> names,
                                std::string_view title) {
    const int n = matrix.classes();
    const auto name = [&](int c) {
        const auto i = static_cast<std::size_t>(c);
        return i < names.size() ? std::string(names[i]) : std::to_string(c);
    };
    std::size_t longest = 1;
    for (int c = 0; c < n; ++c) longest = name(c).size() > longest ? name(c).size() : longest;
    const bool turned = longest > 5;   // names too wide for a column stand on end
    const double cell = 44, name_width = 7.0 * static_cast<double>(longest) + 12;
    const double left = 34 + name_width, top = 56, right = left + cell * n;
    const double bottom = top + cell * n, below = turned ? name_width : 22;

    const auto percent = [](double share) {
        return share == share ? svg::number(__builtin_round(1000 * share) / 10) + " %" : "-";
    };
    std::string s = svg::text(left, 24, 15, svg::anchor::start, svg::ink, title, "font-weight=\"bold\"");
    s += svg::text(left, 43, 12, svg::anchor::start, svg::faint_ink, "accuracy " + percent(matrix.accuracy()));
    s += svg::text(right + 10, top - 8, 11, svg::anchor::start, svg::faint_ink, "recall");
    for (int truth = 0; truth < n; ++truth) {
        const double y = top + cell * truth, all = static_cast<double>(matrix.examples(truth));
        s += svg::text(left - 8, y + cell / 2 + 4, 12, svg::anchor::end, svg::ink, name(truth));
        s += svg::text(right + 10, y + cell / 2 + 4, 11, svg::anchor::start, svg::faint_ink,
                       percent(matrix.recall(truth)));
        for (int predicted = 0; predicted < n; ++predicted) {
            const double x = left + cell * predicted;
            const auto count = static_cast<double>(matrix.count(truth, predicted));
            const double share = all > 0 ? count / all : 0;
            // From white to dark blue. The square root lifts the few mistakes, which are what one
            // looks for.
            const double depth = __builtin_sqrt(share);
            const auto mix = [&](double end) { return static_cast<int>(255 + depth * (end - 255)); };
            char colour[8];
            std::snprintf(colour, sizeof colour, "#%02x%02x%02x", mix(8) & 255, mix(64) & 255, mix(129) & 255);
            s += svg::rectangle(x + 0.5, y + 0.5, cell - 1, cell - 1, count > 0 ? colour : "#f7f7f7");
            const std::string digits = std::to_string(matrix.count(truth, predicted));
            const double size = digits.size() <= 4 ? 13 : digits.size() <= 6 ? 11 : 8;
            s += svg::text(x + cell / 2, y + cell / 2 + 4.5, size, svg::anchor::middle,
                           count == 0 ? "#bbbbbb" : depth > 0.5 ? "#ffffff" : svg::ink, digits);
        }
    }
    for (int c = 0; c < n; ++c) {
        const double x = left + cell * c + cell / 2, y = bottom + 16;
        s += turned ? svg::text(x + 4, bottom + 8, 12, svg::anchor::end, svg::ink, name(c),
                                "transform=\"rotate(-90 " + svg::number(x + 4) + " " + svg::number(bottom + 8) + ")\"")
                    : svg::text(x, y, 12, svg::anchor::middle, svg::ink, name(c));
    }
    s += svg::text((left + right) / 2, bottom + below + 18, 12, svg::anchor::middle, svg::faint_ink, "predicted class");
    s += svg::text(18, (top + bottom) / 2, 12, svg::anchor::middle, svg::faint_ink, "true class",
                   "transform=\"rotate(-90 18 " + svg::number((top + bottom) / 2) + ")\"");
    return svg::document(right + 70, bottom + below + 34, title, s);
}
#endif

} // namespace sinter
