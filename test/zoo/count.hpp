// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/convolution.hpp>
#include <sinter/compiler/cost.hpp>

/// What a net is made of, from its forward trace alone: no kernel is compiled for it, so full-size nets cost little.
namespace sinter::zoo {
using namespace compiler;

struct counts {
    std::int64_t parameters = 0;
    std::int64_t multiply_adds = 0;   ///< with parameters, of one example's forward pass: what papers count
    bool operator==(const counts&) const = default;
};

/// Is v a parameter, packed, unpacked or under other extents?
constexpr bool is_of_parameter(const graph& g, int v) {
    while (is_view(g.n[v]) || g.n[v].k == op::unpack_weights) v = g.n[v].in[0];
    return g.n[v].k == op::parameter;
}

/// Products and convolutions whose right operand are parameters; those within a loop once for each iteration.
template <class Net>
constexpr counts count(Net) {
    graph g;
    trace<Net, no_loss>(g, program_mode::prediction);
    counts c;
    for (int i = 0; i < g.parameters.n; ++i) c.parameters += g.n[g.parameters[i].id].s.size();
    for (int i = 0; i < g.n.n; ++i) {
        const node& n = g.n[i];
        const bool product = n.k == op::gemm || n.k == op::matmul || n.k == op::conv || n.k == op::convolution;
        if (!product || !is_of_parameter(g, n.in[1])) continue;
        node operands[max_operands];
        for (int k = 0; k < n.operands; ++k) operands[k] = g.n[n.in[k]];
        c.multiply_adds += std::int64_t{n.about->flops(n, operands)} / 2 * (n.loop ? g.loops[n.loop - 1].steps : 1);
    }
    return g.err.what == fault_kind::none ? c : counts{};
}

/// Rounded to tenths of a billion: 18 is 1.8 G.
constexpr std::int64_t tenths_of_billions(std::int64_t n) { return (n + 50'000'000) / 100'000'000; }

} // namespace sinter::zoo
