// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/text_of_model.hpp>
#include <algorithm>

/// describe(model): what the compiler made of a net, printed: its layers as they were written, then
/// each kernel with what went into it and what that saves, then the memory plan.
namespace sinter::inline SINTER_TARGET {

namespace profile {

inline void print_layers(const program_text& t, std::FILE* out) {
    std::fprintf(out, "%-28s %-18s %12s %14s\n", "layer", "output", "parameters", "FLOP/example");
    auto line = [out](const layer_text& l) {
        const std::string name(2 * static_cast<std::size_t>(l.depth), ' ');
        std::fprintf(out, "%-28s %-18s %12lld %14s\n", (name + l.name).c_str(), l.out.c_str(),
                     static_cast<long long>(l.parameters), short_number(static_cast<double>(l.flops)).c_str());
    };
    layer_text all{"all", ""};
    for (const layer_text& l : t.layers) {
        line(l);
        if (l.depth) continue;   // counted in the block that it stands in
        all.parameters += l.parameters;
        all.flops += l.flops;
    }
    line(all);
    std::fputc('\n', out);
}

inline void print_kernels(const program_text& t, std::FILE* out) {
    const std::int64_t b = t.max_batch;
    const group_cost& all = t.cost.total;
    std::fprintf(out, "%d launches of %d different kernels; batch %d: %s FLOP, %s moved, %s saved by fusion\n\n",
                 t.cost.launches, t.cost.kernels, t.max_batch,
                 short_number(static_cast<double>(all.flops.at(b))).c_str(),
                 bytes_text(all.read.at(b) + all.written.at(b)).c_str(), bytes_text(all.saved.at(b)).c_str());
    std::fprintf(out, "%6s %6s  %-22s %-18s %8s %9s %9s  %s\n", "launch", "kernel", "layer", "walks over", "FLOP",
                 "moved", "saved", "what went into it");
    for (const kernel_text& k : t.kernels)
        std::fprintf(out, "%6d %6d  %-22s %-18s %8s %9s %9s  %s\n", k.launch, k.spec, k.layer.c_str(), k.out.c_str(),
                     short_number(static_cast<double>(k.cost.flops.at(b))).c_str(),
                     bytes_text(k.cost.read.at(b) + k.cost.written.at(b)).c_str(),
                     bytes_text(k.cost.saved.at(b)).c_str(),
                     (k.members + (k.is_producer ? ", by the next kernel" : "")).c_str());
    std::fputc('\n', out);
}

/// How many buffers are listed; of those that are smaller only the sum is.
inline constexpr std::size_t most_buffers = 20;

inline void print_buffers(const program_text& t, std::FILE* out) {
    std::vector<int> all;
    for (int v = 0; v < t.g.n.n; ++v)
        if (t.first[v] >= 0) all.push_back(v);
    if (all.empty()) return;
    auto floats = [&](int v) { return t.floats[v]; };
    std::sort(all.begin(), all.end(),
              [&](int a, int b) { return floats(a) != floats(b) ? floats(a) > floats(b) : a < b; });
    std::fprintf(out, "\n%-36s %-18s %12s %9s   %s\n", "activations, largest first", "extents", "offset", "size",
                 "launches");
    std::int64_t rest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const int v = all[i];
        if (i >= most_buffers) {
            rest += 4 * floats(v);
            continue;
        }
        const node& n = t.g.n[v];
        const std::string layer = scope_path(t.g.scopes, n.scope),
                          name = op_text(t.g, v) + (layer.empty() ? "" : " of " + layer);
        std::fprintf(out, "%-36s %-18s %12lld %9s   %d to %d\n", name.c_str(), text_of(n.s).c_str(),
                     static_cast<long long>(4 * t.at[v].offset()), bytes_text(4 * floats(v)).c_str(), t.first[v],
                     t.last[v]);
    }
    if (!rest) return;
    const std::string others = "and " + std::to_string(all.size() - most_buffers) + " smaller ones";
    std::fprintf(out, "%-68s %9s\n", others.c_str(), bytes_text(rest).c_str());
}

inline void print_memory(const program_text& t, std::FILE* out) {
    auto line = [out](const char* what, std::int64_t floats, const std::string& note = "") {
        std::fprintf(out, "%-18s %10s%s%s\n", what, bytes_text(4 * floats).c_str(), note.empty() ? "" : "   ",
                     note.c_str());
    };
    std::int64_t most = 0;
    int when = 0;
    for (const kernel_text& k : t.kernels)
        if (k.live_floats > most) most = k.live_floats, when = k.launch;
    std::fprintf(out, "memory at batch %d\n", t.max_batch);
    line("parameters", t.z.parameters);
    line("optimizer", t.slots);
    line("gradients", t.gradients, t.gradients || !t.g.gradients.n ? "" : "each is used up by its update");
    line("states", t.z.states);
    line("activations", t.z.activations,
         bytes_text(4 * t.z.unshared) + " if none lay where others lay before; most alive at once: " +
             bytes_text(4 * most) + ", launch " + std::to_string(when));
    line("scratch space", t.scratch, "of the kernels, one after the other");
    line("all", t.bytes() / 4);
    print_buffers(t, out);
}

inline void print(const program_text& t, std::FILE* out) {
    print_layers(t, out);
    print_kernels(t, out);
    print_memory(t, out);
}

} // namespace profile

/// `model`: a trainer or an estimator (its training program), or a net alone (what predicts, for
/// batches of up to 64).
template <class Model>
void describe(const Model& m, std::FILE* out = stdout) {
    profile::print(profile::text_of_model(m), out);
}

} // namespace sinter
