// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <string>
#include <vector>
#if SINTER_BODIES
#include <sinter/train/chart/axis.hpp>
#include <sinter/train/chart/svg.hpp>
#include <iterator>
#include <limits>
#endif

namespace sinter::inline SINTER_ORDINARY {

/// A line of points; x may be left out and is then 1, 2, 3, ... (epochs). Values that are not
/// finite leave a gap.
struct curve {
    std::string name;
    std::vector<double> y;
    std::vector<double> x{};
    double x_at(std::size_t i) const { return i < x.size() ? x[i] : static_cast<double>(i + 1); }
};

/// What a chart of lines shows: its labels, and a line of points for each name.
struct line_chart {
    std::string title, x_label, y_label;
    std::vector<curve> curves;
};

namespace svg {
/// Curves of more points than can be told apart are drawn as the means of equally many neighbours.
SINTER_APART curve thinned(const curve& c, std::size_t most = 600);
} // namespace svg

/// Charts side by side as one self-contained SVG picture.
SINTER_APART std::string to_svg(const std::vector<line_chart>& charts);
SINTER_APART std::string to_svg(const line_chart& chart);

#if SINTER_BODIES
namespace svg {
// Okabe and Ito's colours, which people who see red and green alike can tell apart.
inline constexpr const char* curve_colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#56b4e9", "#e69f00", "#000000", "#8c6d31"};

inline bool finite(double v) { return v - v == 0; }

SINTER_APART curve thinned(const curve& c, std::size_t most) {
    if (c.y.size() <= most) return c;
    curve t{c.name, {}, {}};
    for (std::size_t k = 0; k < most; ++k) {
        const std::size_t first = k * c.y.size() / most, last = (k + 1) * c.y.size() / most;
        double x = 0, y = 0;
        for (std::size_t i = first; i < last; ++i) x += c.x_at(i), y += c.y[i];
        t.x.push_back(x / static_cast<double>(last - first));
        t.y.push_back(y / static_cast<double>(last - first));
    }
    return t;
}

struct span_of_values {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    void add(double v) {
        if (!finite(v)) return;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
};

/// One chart with its upper left corner at (left, top), 480 x 320.
inline std::string chart_panel(const line_chart& chart, double left, double top) {
    constexpr double w = 480, h = 320, margin_left = 64, margin_right = 20, margin_top = 64, margin_bottom = 52;
    const double x0 = left + margin_left, x1 = left + w - margin_right;
    const double y0 = top + h - margin_bottom, y1 = top + margin_top;
    std::vector<curve> curves;
    span_of_values xs, ys;
    bool whole = true;   // steps and epochs get whole ticks
    for (const curve& given : chart.curves) {
        for (std::size_t i = 0; i < given.y.size(); ++i)
            if (finite(given.y[i])) {
                xs.add(given.x_at(i));
                whole = whole && given.x_at(i) == __builtin_floor(given.x_at(i));
            }
        curves.push_back(thinned(given));
        for (double v : curves.back().y) ys.add(v);
    }
    axis x = axis::around(xs.low, xs.high, 6);
    const axis y = axis::around(ys.low, ys.high, 5);
    if (whole && x.step < 1) x.step = 1, x.low = __builtin_floor(x.low), x.high = __builtin_ceil(x.high);
    // Time runs to the edges; only its ticks are round.
    const double from = xs.low < xs.high ? xs.low : x.low, to = xs.low < xs.high ? xs.high : x.high;
    const auto across = [&](double v) { return x0 + (v - from) / (to - from) * (x1 - x0); };
    const auto up = [&](double v) { return y0 - y.share(v) * (y0 - y1); };

    std::string s = svg::text(x0, top + 24, 15, svg::anchor::start, svg::ink, chart.title, "font-weight=\"bold\"");
    for (int i = 0; i < y.ticks(); ++i) {
        const double at = up(y.tick(i));
        s += svg::line(x0, at, x1, at, svg::grid);
        s += svg::text(x0 - 8, at + 4, 11, svg::anchor::end, svg::faint_ink, y.label(i));
    }
    for (int i = 0; i < x.ticks(); ++i) {
        if (x.tick(i) < from - 1e-9 * x.step || x.tick(i) > to + 1e-9 * x.step) continue;
        const double at = across(x.tick(i));
        s += svg::line(at, y0, at, y0 + 5, svg::faint_ink);
        s += svg::text(at, y0 + 19, 11, svg::anchor::middle, svg::faint_ink, x.label(i));
    }
    s += svg::line(x0, y0, x1, y0, svg::faint_ink);
    s += svg::text((x0 + x1) / 2, y0 + 40, 12, svg::anchor::middle, svg::ink, chart.x_label);
    const std::string turned =
        "transform=\"rotate(-90 " + svg::number(left + 18) + " " + svg::number((y0 + y1) / 2) + ")\"";
    s += svg::text(left + 18, (y0 + y1) / 2, 12, svg::anchor::middle, svg::ink, chart.y_label, turned);
    if (!(ys.low <= ys.high))
        s += svg::text((x0 + x1) / 2, (y0 + y1) / 2, 13, svg::anchor::middle, svg::faint_ink, "nothing to show");

    double legend = x0;
    for (std::size_t k = 0; k < curves.size(); ++k) {
        const curve& c = curves[k];
        const std::string colour = curve_colours[k % std::size(curve_colours)];
        std::string path, dots;
        bool pen_down = false;
        for (std::size_t i = 0; i < c.y.size(); ++i) {
            if (!finite(c.y[i])) {
                pen_down = false;
                continue;
            }
            const std::string px = svg::number(across(c.x_at(i))), py = svg::number(up(c.y[i]));
            path += (pen_down ? "L" : "M") + px + " " + py;
            pen_down = true;
            if (c.y.size() <= 30)
                dots += "<circle cx=\"" + px + "\" cy=\"" + py + "\" r=\"3\" fill=\"" + colour + "\"/>\n";
        }
        if (!path.empty())
            s += "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + colour +
                 "\" stroke-width=\"2\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n" + dots;
        s += svg::line(legend, top + 44, legend + 18, top + 44, colour, 3);
        s += svg::text(legend + 24, top + 48, 12, svg::anchor::start, svg::ink, c.name);
        legend += 24 + 7 * static_cast<double>(c.name.size()) + 18;   // widths of letters are not known here
    }
    return s;
}
} // namespace svg

SINTER_APART std::string to_svg(const std::vector<line_chart>& charts) {
    std::string content, title;
    for (std::size_t i = 0; i < charts.size(); ++i) {
        content += svg::chart_panel(charts[i], 490.0 * static_cast<double>(i), 0);
        title += (i ? ", " : "") + charts[i].title;
    }
    const double panels = charts.empty() ? 1.0 : static_cast<double>(charts.size());
    return svg::document(490 * panels, 330, title, content);
}

SINTER_APART std::string to_svg(const line_chart& chart) { return to_svg(std::vector<line_chart>{chart}); }
#endif

} // namespace sinter
