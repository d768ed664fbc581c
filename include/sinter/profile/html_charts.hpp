// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/program_text.hpp>
#include <sinter/train/chart/svg.hpp>
#include <algorithm>

/// The two pictures of write_html()'s page, over one axis of time: what each launch does, and what
/// lies in memory.
namespace sinter::inline SINTER_TARGET::profile {

/// What a launch is there for: a class of the style sheet.
inline const char* stage_of(const program_text& t, const kernel_text& k) {
    if (k.group < 0) return "update";
    return k.root < t.forward_nodes ? "forward" : t.g.n[k.root].epoch ? "again" : "backward";
}

class charts {
public:
    explicit charts(const program_text& t)
        : t_(t), n_(std::max<int>(1, static_cast<int>(t.kernels.size()))),
          w_(std::clamp((1180. - left) / n_, 4., 90.)), right_(left + w_ * n_) {}

    /// Operations, and bytes moved with those that fusion saves on top.
    std::string launches() const {
        std::string s = open(2 * height + 4 * gap, "Operations and bytes of each launch");
        double flops = 0, bytes = 0;
        for (const kernel_text& k : t_.kernels) {
            flops = std::max(flops, number(k.cost.flops));
            bytes = std::max(bytes, moved(k) + number(k.cost.saved));
        }
        const double top[] = {gap, 3 * gap + height};
        axis(s, top[0], flops, "FLOP", short_number(flops));
        axis(s, top[1], bytes, "bytes", bytes_text(static_cast<std::int64_t>(bytes)));
        for (const kernel_text& k : t_.kernels) {
            s += "<a href=\"#k" + std::to_string(k.launch) + "\">";
            column(s, k, top[0], number(k.cost.flops), 0, flops, stage_of(t_, k));
            column(s, k, top[1], moved(k), 0, bytes, stage_of(t_, k));
            column(s, k, top[1], number(k.cost.saved), moved(k), bytes, "saved");
            s += "</a>\n";
        }
        return s + "</svg>\n";
    }
    /// The arena of activations: each buffer from the launch that writes it to the last that reads
    /// it.
    std::string memory() const {
        constexpr double tall = 300;
        const double all = static_cast<double>(t_.z.activations) * 4;
        std::string s = open(tall + 2 * gap + 12, "Buffers in the activation arena over the launches of a step");
        axis(s, gap, all, "bytes", bytes_text(t_.z.activations * 4), tall);
        for (int v = 0; v < t_.g.n.n; ++v) {
            if (t_.first[v] < 0 || all == 0) continue;
            const node& n = t_.g.n[v];
            const std::int64_t size = 4 * t_.floats[v], at = 4 * t_.at[v].offset();
            const double h = tall * static_cast<double>(size) / all,
                         y = gap + tall - tall * static_cast<double>(at) / all - h;
            const std::string layer = scope_path(t_.g.scopes, n.scope);
            const std::string tip = op_text(t_.g, v) + (layer.empty() ? "" : " of " + layer) + " " + text_of(n.s) +
                                    "\n" + bytes_text(size) + " at " + std::to_string(at) + ", launches " +
                                    std::to_string(t_.first[v]) + " to " + std::to_string(t_.last[v]);
            const char* const stage = stage_of(t_, t_.kernels[static_cast<std::size_t>(t_.first[v])]);
            box(s, std::string("buffer ") + stage, left + w_ * t_.first[v], y, w_ * (t_.last[v] - t_.first[v] + 1), h,
                tip);
            s += "\n";
        }
        return s + "</svg>\n";
    }

private:
    static constexpr double left = 70, gap = 26, height = 110;
    const program_text& t_;
    int n_;
    double w_, right_;

    double number(const batch_count& c) const { return static_cast<double>(c.at(t_.max_batch)); }
    double moved(const kernel_text& k) const { return number(k.cost.read) + number(k.cost.written); }

    std::string open(double h, const char* title) const {
        return "<svg width=\"" + svg::number(right_ + 10) + "\" height=\"" + svg::number(h) +
               "\" role=\"img\" aria-label=\"" + title + "\">\n";
    }
    static std::string at(const char* name, double value) {
        return std::string(" ") + name + "=\"" + svg::number(value) + "\"";
    }

    /// Unlike svg::text and svg::rectangle, these leave colours and sizes to the page's style
    /// sheet.
    static void text(std::string& s, double x, double y, const char* anchor, const std::string& content) {
        s += "<text" + at("x", x) + at("y", y);
        if (*anchor) s += std::string(" text-anchor=\"") + anchor + "\"";
        s += ">" + content + "</text>\n";
    }
    /// A rectangle that can be seen, however low, and says `tip` when it is pointed at.
    static void box(std::string& s, const std::string& kind, double x, double y, double w, double h,
                    const std::string& tip) {
        s += "<rect class=\"" + kind + "\"" + at("x", x) + at("y", y) + at("width", w) +
             at("height", std::max(h, 0.5)) + " data-tip=\"" + svg::escaped(tip) + "\"/>";
    }
    /// Lines at nothing, the half and the most, and the launches' numbers below.
    void axis(std::string& s, double top, double most, const char* what, const std::string& label,
              double tall = height) const {
        for (int i = 0; i < 3; ++i) {
            const double y = top + tall * i / 2;
            s += "<line class=\"grid\"" + at("x1", left) + at("x2", right_) + at("y1", y) + at("y2", y) + "/>\n";
        }
        text(s, left - 6, top + 4, "end", most > 0 ? svg::escaped(label) : "");
        text(s, left - 6, top + tall + 4, "end", "0");
        text(s, left, top - 9, "", what);
        int step = 1;
        while (w_ * step < 26) step *= step % 4 ? 5 : 2;   // 1, 5, 25, ...
        for (int i = 0; i < n_; i += step) text(s, left + w_ * (i + 0.5), top + tall + 15, "middle", std::to_string(i));
    }
    void column(std::string& s, const kernel_text& k, double top, double value, double below, double most,
                const char* stage) const {
        if (value <= 0 || most <= 0) return;
        const double h = height * value / most, y = top + height - height * below / most - h;
        const std::string bytes = bytes_text(static_cast<std::int64_t>(moved(k)));
        const std::string saved = bytes_text(static_cast<std::int64_t>(number(k.cost.saved)));
        const std::string tip = std::to_string(k.launch) + ": " + (k.layer.empty() ? k.name : k.layer) + "\n" +
                                k.members + "\n" + short_number(number(k.cost.flops)) + " FLOP, " + bytes + " moved, " +
                                saved + " saved";
        box(s, stage, left + w_ * k.launch + 0.5, y, std::max(w_ - 1, 1.), h, tip);
    }
};

} // namespace sinter::profile
