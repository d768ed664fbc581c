// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/atomic_write.hpp>
#include <sinter/profile/text_of_model.hpp>

/// write_graphviz(model, path): the program as a graph for Graphviz' dot. Each kernel is a box
/// around what was fused into it, in the order in which they run; edges bear extents, thick where
/// the value goes through memory.
namespace sinter::inline SINTER_TARGET {

namespace profile {

/// Text within a double-quoted string of the DOT language.
inline std::string dot_escaped(std::string_view text) {
    std::string s;
    for (char c : text) {
        if (c == '"' || c == '\\') s += '\\';
        s += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return s;
}

class dot_writer {
public:
    explicit dot_writer(const program_text& t) : t_(t) {}

    std::string text() {
        out_ =
            "digraph program {\n"
            "  graph [rankdir=TB, fontname=\"Helvetica\", fontsize=11, nodesep=0.25, ranksep=0.35, compound=true];\n"
            "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", color=\"#8a8f98\", "
            "fontname=\"Helvetica\", fontsize=10, height=0.28, margin=\"0.09,0.04\"];\n"
            "  edge [color=\"#6b7280\", fontcolor=\"#6b7280\", fontname=\"Helvetica\", fontsize=8, arrowsize=0.6];\n";
        leaves();
        for (const kernel_text& k : t_.kernels) kernel(k);
        for (int v = 0; v < t_.g.n.n; ++v)
            if (t_.of[v] == rematerialized && t_.live[v])
                out_ += "  " + id(v) + " [label=\"" + std::string(t_.g.n[v].about->self.name) +
                        "\", style=\"rounded,dashed\"];\n";
        for (int v = 0; v < t_.g.n.n; ++v)
            if (drawn(v))
                for (int k = 0; k < t_.g.n[v].operands; ++k) edge(v, t_.g.n[v].in[k]);
        return out_ + "}\n";
    }

private:
    const program_text& t_;
    std::string out_;

    static std::string id(int v) { return "n" + std::to_string(v); }
    /// Views and constants are not drawn: the one is no work, the other stands in the code.
    bool drawn(int v) const {
        const node& n = t_.g.n[v];
        return t_.live[v] && !is_view(n) && n.k != op::constant;
    }
    void leaf(int v, const std::string& label, const char* colour) {
        if (t_.live[v])
            out_ += "  " + id(v) + " [label=\"" + dot_escaped(label) + "\\n" + text_of(t_.g.n[v].s) +
                    "\", shape=ellipse, style=filled, " + "fillcolor=\"" + colour + "\"];\n";
    }
    std::string path(const variable& v) const {
        variable_info i;
        i.name = v.name;
        i.scope = v.scope;
        return path_of(t_.g.scopes, i);
    }
    void leaves() {
        for (int v : t_.g.inputs) leaf(v, "input " + std::to_string(t_.g.n[v].p[input_attribute::port]), "#dbeafe");
        for (int v : t_.g.targets) leaf(v, "target", "#dbeafe");
        for (const variable& v : t_.g.parameters) leaf(v.id, path(v), "#dcfce7");
        for (const variable& v : t_.g.states) leaf(v.id, path(v), "#fef3c7");
    }
    void kernel(const kernel_text& k) {
        const std::string number = std::to_string(k.launch);
        if (k.group < 0) {
            out_ += "  launch" + number + " [label=\"" + number + ": " + dot_escaped(k.name) +
                    "\", fillcolor=\"#dcfce7\"];\n";
            return;
        }
        const char* const colour = k.root < t_.forward_nodes ? "#eff6ff" : "#fff7ed";
        out_ += "  subgraph cluster_" + number + " {\n    style=\"rounded,filled\"; color=\"#c3c8d0\"; fillcolor=\"" +
                colour + "\"; label=\"" + number + ": " + dot_escaped(k.layer.empty() ? k.name : k.layer) +
                "  (kernel " + std::to_string(k.spec) + ")\";\n";
        for (int v = 0; v < t_.g.n.n; ++v)
            if (t_.of[v] == k.group)
                out_ += "    " + id(v) + " [label=\"" + dot_escaped(t_.g.n[v].about->self.name) + "\"" +
                        (is_root_op(t_.g.n[v]) ? ", penwidth=1.8" : "") + "];\n";
        if (k.updated >= 0) {
            const std::string update = "update" + number;
            out_ += "    " + update + " [label=\"update\", fillcolor=\"#dcfce7\"];\n  }\n";
            out_ += "  " + id(base_of(t_.g.n, t_.g.gradients[k.updated])) + " -> " + update + ";\n";
            out_ += "  " + update + " -> " + id(t_.g.parameters[k.updated].id) +
                    " [style=dashed, constraint=false, color=\"#16a34a\"];\n";
            return;
        }
        out_ += "  }\n";
    }
    void edge(int v, int seen) {
        const int u = base_of(t_.g.n, seen);
        if (t_.g.n[u].k == op::constant) return;
        const bool memory = t_.of[u] != rematerialized && t_.of[u] != t_.of[v];
        out_ += "  " + id(u) + " -> " + id(v) + " [label=\"" + text_of(t_.g.n[seen].s) + "\"" +
                (memory ? ", penwidth=1.6" : ", style=dotted") + "];\n";
    }
};

inline std::string graphviz(const program_text& t) { return dot_writer(t).text(); }

} // namespace profile

/// `model` as for describe(). Throws io_error where the file cannot be written.
template <class Model>
void write_graphviz(const Model& m, const std::string& path) {
    const std::string text = profile::graphviz(profile::text_of_model(m));
    io::atomic_write(path, [&](io::output_file& file) { file.write(text); });
}

} // namespace sinter
