// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu.hpp>
#include <sinter/strategy/parameter_server/remote_lookups.hpp>
#include <sinter/strategy/replica.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

/// Numbers that a net draws in each step to look up rows by (a sampled softmax's candidates): a
/// small program of its own draws them before the step, by the same random numbers.
namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The training program's net and loss, of which the drawn numbers are the outputs.
template <class R>
struct drawn_rows_net {
    static constexpr bundle trace(graph& g) {
        graph all, unused;
        all.has_servers = true;
        compiler::trace<typename R::net, typename R::loss>(all, program_mode::training);
        pass::of_trace::run(settings_of<R>(), all);
        const graph_view from = view_of(all, {}), training;
        const compiler::remote_table_rewriting tables(from, unused, R::options.remote_tables, R::options.remote_parts,
                                                      training);
        const growing<int>& drawn = tables.drawn();
        growing<bool> wanted(from.n.n, false);
        growing<int> place(from.n.n, -1);
        for (int v : drawn.all()) wanted[v] = true;
        for (int v = from.n.n - 1; v >= 0; --v)
            for (int k = 0; wanted[v] && k < from.n[v].operands; ++k) wanted[from.n[v].in[k]] = true;
        for (int v = 0; v < from.n.n; ++v) {
            if (!wanted[v]) continue;
            node n = from.n[v];
            for (int k = 0; k < n.operands; ++k) n.in[k] = place[n.in[k]];
            n.scope = 0;
            g.restore(n);
            place[v] = g.n.n - 1;
        }
        g.streams = all.streams;
        bundle y;
        y.g = &g;
        for (int i = 0; i < drawn.n && i < bundle::most; ++i) y.t[y.n++] = {&g, place[drawn[i]]};
        return y;
    }
};
template <class R>
using drawn_rows_program =
    compiled<compiler::request<drawn_rows_net<R>, stand_in_loss, void, program_mode::prediction, 1, cpu_device::target,
                               program_options{}>>;

/// P: the training program.
template <class P>
class drawn_rows {
    using program = drawn_rows_program<typename P::request>;
    static constexpr int n = program::v.n_outputs, parts = P::request::options.remote_parts;
    static_assert(n <= bundle::most, "so many lookups by drawn numbers are not provided for");

public:
    static constexpr bool any = true;
    drawn_rows() : replica_(cpu_device::options{1}), numbers_(std::size_t{n * parts}) {
        for (int k = 0; k < n * parts; ++k) numbers_[at(k)].resize(at(program::v.output_shapes[k % n].size()));
    }
    /// Draws those of part `part` of a step's batch, which v.shard numbers.
    void draw(int part, const step_values& v) {
        batch_view nothing;
        nothing.size = 1;
        replica_.predict(nothing, {nullptr, v.seed, v.step, v.shard});
        for (int i = 0; i < n; ++i) {
            const span<const float> x = replica_.output(i);   // below 2^24: floats hold them
            std::transform(x.begin(), x.end(), numbers_[at(part * n + i)].begin(),
                           [](float f) { return static_cast<std::int32_t>(f); });
        }
    }
    /// The i-th draw's numbers.
    const std::vector<std::int32_t>& of(int part, int i) const { return numbers_[at(part * n + i)]; }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    replica<model_programs<cpu_device, program, program, program>> replica_;
    std::vector<std::vector<std::int32_t>> numbers_;
};
/// Where nothing is drawn.
struct no_drawn_rows {
    static constexpr bool any = false;
};
template <class P, bool Any = (compiler::remote_lookups_of<P>.drawn > 0)>
struct drawn_rows_of {
    using type = no_drawn_rows;
};
template <class P>
struct drawn_rows_of<P, true> {
    using type = drawn_rows<P>;
};

} // namespace sinter::strategy_parts
