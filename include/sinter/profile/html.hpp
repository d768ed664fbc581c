// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/profile/html_charts.hpp>
#include <sinter/profile/html_style.hpp>
#include <sinter/profile/text_of_model.hpp>

/// write_html(model, path): one page that stands alone (no network, nothing beside it): what a step
/// costs, its layers, its kernels in their order with what was fused into each, and its memory over
/// time.
namespace sinter::inline SINTER_TARGET {

namespace profile {

class html_writer {
public:
    explicit html_writer(const program_text& t) : t_(t) {}

    std::string text() {
        const char* const what = t_.g.gradients.n ? "training step" : "prediction";
        out_ = std::string("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                           "<title>Sinter: a program</title>\n<style>") +
               page_style + "</style>\n</head>\n<body>\n<h1>Sinter: one " + what + "</h1>\n<p>Batch " +
               std::to_string(t_.max_batch) +
               ", the largest that the program takes; all figures are known when it is compiled.</p>\n";
        figures();
        layers();
        const charts c(t_);
        out_ +=
            "<h2>Kernels over time</h2>\n<p>Each column is one launch. Above: operations. Below: bytes moved, and on "
            "top of them those that separate kernels would have moved besides.</p>\n";
        keys({{"forward", "forward"},
              {"backward", "backward"},
              {"again", "computed again"},
              {"update", "update"},
              {"saved", "saved by fusion"}});
        out_ += "<div class=\"card\">" + c.launches() + "</div>\n";
        kernels();
        out_ +=
            "<h2>Memory over time</h2>\n<p>The arena of activations: each rectangle is a buffer, as wide as the "
            "launches during which it is alive, as high as its bytes. Parameters, their gradients and the optimizer's "
            "memory lie elsewhere.</p>\n";
        keys({{"forward", "values"}, {"backward", "gradients"}, {"again", "computed again"}});
        out_ += "<div class=\"card\">" + c.memory() + "</div>\n<div id=\"tip\"></div>\n<script>" + page_script +
                "</script>\n</body>\n</html>\n";
        return out_;
    }

private:
    const program_text& t_;
    std::string out_;

    static std::string flop(std::int64_t n) { return short_number(static_cast<double>(n)); }
    std::int64_t at(const batch_count& c) const { return c.at(t_.max_batch); }
    std::int64_t moved(const group_cost& c) const { return at(c.read) + at(c.written); }

    void figure(const std::string& value, const std::string& what) {
        out_ +=
            "<div class=\"figure\"><b>" + svg::escaped(value) + "</b><span>" + svg::escaped(what) + "</span></div>\n";
    }
    void figures() {
        std::int64_t parameters = 0;
        for (const variable& v : t_.g.parameters) parameters += t_.g.n[v.id].s.size();
        const program_cost& c = t_.cost;
        out_ += "<div class=\"figures\">\n";
        figure(flop(parameters), "parameters");
        figure(flop(at(c.total.flops)), "FLOP a step");
        figure(bytes_text(moved(c.total)), "moved a step");
        figure(bytes_text(at(c.total.saved)), "not moved, thanks to fusion");
        figure(std::to_string(c.launches) + " / " + std::to_string(c.kernels), "launches / different kernels");
        figure(bytes_text(t_.bytes()), "memory in all");
        figure(bytes_text(4 * t_.z.activations), "activations, of " + bytes_text(4 * t_.z.unshared) + " unshared");
        out_ += "</div>\n";
    }
    void cell(const std::string& text, const char* kind = "") {
        out_ += std::string("<td") + (*kind ? " class=\"" : "") + kind + (*kind ? "\">" : ">") + svg::escaped(text) +
                "</td>";
    }
    void layers() {
        out_ +=
            "<h2>Layers</h2>\n<div class=\"card\"><table>\n<tr><th>layer</th><th>output</th>"
            "<th class=\"n\">parameters</th><th class=\"n\">FLOP an example, forward</th></tr>\n";
        for (const layer_text& l : t_.layers) {
            out_ += "<tr><td style=\"padding-left: " + std::to_string(10 + 16 * l.depth) + "px\">" +
                    svg::escaped(l.name) + "</td>";
            cell(l.out);
            cell(std::to_string(l.parameters), "n");
            cell(flop(l.flops), "n");
            out_ += "</tr>\n";
        }
        out_ += "</table></div>\n";
    }
    struct key {
        const char *colour, *what;
    };
    void keys(std::initializer_list<key> all) {
        out_ += "<div>";
        for (const key& k : all)
            out_ += std::string("<span class=\"key\"><i style=\"background: var(--") + k.colour + ")\"></i>" + k.what +
                    "</span>";
        out_ += "</div>\n";
    }
    /// A kernel's members as little boxes, the one with a kernel of its own in bold.
    void members(const kernel_text& k) {
        std::size_t from = 0;
        for (bool first = true; from <= k.members.size(); first = false) {
            std::size_t to = k.members.find(" + ", from);
            if (to == std::string::npos) to = k.members.size();
            const std::string one = k.members.substr(from, to - from);
            const char* const kind = one == "update" || k.group < 0 ? " up" : first && k.name != "walk" ? " own" : "";
            out_ += std::string("<span class=\"op") + kind + "\">" + svg::escaped(one) + "</span>";
            from = to + 3;
        }
        if (k.is_producer) out_ += " by the next kernel";
    }
    void kernels() {
        std::int64_t most = 1;
        for (const kernel_text& k : t_.kernels) most = std::max(most, moved(k.cost));
        out_ +=
            "<h2>Kernels</h2>\n<div class=\"card\"><table>\n<tr><th class=\"n\">launch</th><th class=\"n\">kernel</th>"
            "<th>layer</th><th>walks over</th><th>what was fused</th>"
            "<th class=\"n\">FLOP</th><th class=\"n\">saved</th><th>moved</th></tr>\n";
        for (const kernel_text& k : t_.kernels) {
            out_ += "<tr id=\"k" + std::to_string(k.launch) + "\">";
            cell(std::to_string(k.launch), "n");
            cell(std::to_string(k.spec), "n");
            cell(k.layer);
            cell(k.out);
            out_ += "<td class=\"wide\">";
            members(k);
            out_ += "</td>";
            cell(flop(at(k.cost.flops)), "n");
            cell(bytes_text(at(k.cost.saved)), "n");
            out_ += "<td>" + bytes_text(moved(k.cost)) + "<span class=\"bar\" style=\"width: " +
                    svg::number(120. * static_cast<double>(moved(k.cost)) / static_cast<double>(most)) +
                    "px; background: var(--" + stage_of(t_, k) + ")\"></span></td></tr>\n";
        }
        out_ += "</table></div>\n";
    }
};

inline std::string html(const program_text& t) { return html_writer(t).text(); }

} // namespace profile

/// `model` as for describe(). Throws io_error where the file cannot be written.
template <class Model>
void write_html(const Model& m, const std::string& path) {
    const std::string text = profile::html(profile::text_of_model(m));
    io::atomic_write(path, [&](io::output_file& file) { file.write(text); });
}

} // namespace sinter
