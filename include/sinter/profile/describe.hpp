// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/layers.hpp>
#include <sinter/profile/text_of_model.hpp>

/// describe(model): what the compiler made of a net, printed: its layers, then each kernel with what went into it, then
/// where memory goes. Numbers are for one example unless a batch is named.
namespace sinter {

namespace profile {

inline void print_layers(const program_text& t, std::FILE* out) {
    std::fprintf(out, "%-28s %-18s %12s %14s\n", "layer", "output", "parameters", "FLOP/example");
    layer_text all{"all", "", 0, 0};
    auto line = [out](const layer_text& l) {
        std::fprintf(out, "%-28s %-18s %12lld %14s\n", l.name.c_str(), l.out.c_str(), static_cast<long long>(l.parameters),
                     short_number(static_cast<double>(l.flops)).c_str());
    };
    for (const layer_text& l : layers_of(t)) {
        line(l);
        all.parameters += l.parameters;
        all.flops += l.flops;
    }
    line(all);
    std::fputc('\n', out);
}

inline void print_kernels(const program_text& t, std::FILE* out) {
    const std::int64_t b = t.max_batch;
    std::fprintf(out, "%d launches of %d different kernels; batch %d: %s FLOP, %sB moved, %sB that fusion saves\n",
                 t.cost.launches, t.cost.kernels, t.max_batch, short_number(static_cast<double>(t.cost.total.flops.at(b))).c_str(),
                 short_number(static_cast<double>(t.cost.total.read.at(b) + t.cost.total.written.at(b))).c_str(),
                 short_number(static_cast<double>(t.cost.total.saved.at(b))).c_str());
    for (const kernel_text& k : t.kernels)
        std::fprintf(out, "%4d  k%-3d %-22s %-16s %8s FLOP %8sB, saves %8sB   %s\n", k.launch, k.spec, k.layer.c_str(),
                     k.out.c_str(), short_number(static_cast<double>(k.cost.flops.at(b))).c_str(),
                     short_number(static_cast<double>(k.cost.read.at(b) + k.cost.written.at(b))).c_str(),
                     short_number(static_cast<double>(k.cost.saved.at(b))).c_str(), k.members.c_str());
    std::fputc('\n', out);
}

inline void print_memory(const program_text& t, std::FILE* out) {
    auto line = [out](const char* what, std::int64_t floats, const char* note) {
        std::fprintf(out, "%-24s %10sB   %s\n", what, short_number(4. * static_cast<double>(floats)).c_str(), note);
    };
    line("parameters", t.z.parameters, "");
    line("optimizer memory", t.slots, "");
    line("gradients", t.gradients, t.gradients ? "" : "each is used up by its update");
    line("states", t.z.states, "");
    const std::string note = "of " + short_number(4. * static_cast<double>(t.z.unshared)) + "B if nothing were shared";
    line("activations", t.z.activations, note.c_str());
    std::fprintf(out, "%-24s %10sB   at batch %d\n", "all", short_number(static_cast<double>(t.bytes)).c_str(), t.max_batch);
}

inline void print(const program_text& t, std::FILE* out) {
    print_layers(t, out);
    print_kernels(t, out);
    print_memory(t, out);
}

} // namespace profile

/// `model`: a trainer or an estimator (its training program), or a net alone (what predicts, for batches of up to 64).
template <class Model>
void describe(const Model& m, std::FILE* out = stdout) {
    profile::print(profile::text_of_model(m), out);
}

} // namespace sinter
