// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/text.hpp>
#include <sinter/train/trainer.hpp>

/// describe(model): what the compiler made of a net, printed: its layers, then each kernel with what went into it, then
/// where memory goes. Numbers are for one example unless a batch is named.
namespace sinter {

namespace profile {

inline void print_layers(const program_text& t, std::FILE* out) {
    std::fprintf(out, "%-28s %-18s %12s %14s\n", "layer", "output", "parameters", "FLOP/example");
    std::int64_t parameters = 0, flops = 0;
    for (int s = 0; s < t.g.scopes.n; ++s) {
        std::int64_t p = 0, f = 0;
        shape last;
        bool any = false;
        for (const variable& v : t.g.parameters)
            if (v.scope == s) p += t.g.n[v.id].s.size();
        for (int i = 0; i < t.forward_nodes; ++i) {
            const node& n = t.g.n[i];
            if (n.scope != s || is_leaf(n.k)) continue;
            const batch_count c = sinter::detail::flops_of(t.g, n);
            f += c.per_example + c.once;
            last = n.s;
            any = true;
        }
        if (!any && !p) continue;
        parameters += p;
        flops += f;
        const std::string name = s ? scope_path(t.g.scopes, s) : "(outside of layers)";
        std::fprintf(out, "%-28s %-18s %12lld %14s\n", name.c_str(), text_of(last).c_str(), static_cast<long long>(p),
                     short_number(static_cast<double>(f)).c_str());
    }
    std::fprintf(out, "%-28s %-18s %12lld %14s\n\n", "all", "", static_cast<long long>(parameters),
                 short_number(static_cast<double>(flops)).c_str());
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

/// The training program of a trainer's or estimator's type.
template <class Model>
void describe(const Model& m, std::FILE* out = stdout) {
    if constexpr (requires { m.inner(); }) describe(m.inner(), out);
    else profile::print(profile::text_of_program<typename Model::training>(), out);
}
/// A net alone: the program that predicts, for batches of up to 64.
template <class I, class S>
void describe(const model<I, S>&, std::FILE* out = stdout) {
    using r = request<model<I, S>, sinter::detail::stand_in_loss, void, program_mode::prediction, 64, cpu_device::target, program_options{}>;
    profile::print(profile::text_of_program<compiled<r>>(), out);
}

} // namespace sinter
