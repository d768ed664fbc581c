// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/compiler/gradient_policy.hpp>
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/plan/memory.hpp>

/// How gradients lie in memory. Under gradient_policy::reduced parameters lie in the order in which
/// backward finishes their gradients, the reverse of their first use, packed and plain ones mixed,
/// so that a bucket is one stretch of each arena. Else packed ones come first: the updates of these
/// ride on kernels, and what is left is one stretch, swept at once (in backward's order a sweep
/// would end at each packed one).
///
/// Under that policy gradients have an arena without gaps: whole ones first, then the rows of
/// lists, then the keys of lists.
namespace sinter::inline SINTER_TARGET::compiler {

struct gradient_layout {
    gradient_policy policy = gradient_policy::fused;
    const int* list_rows =
        nullptr;   ///< of each parameter: the most rows that the list has which is its gradient; 0: it is whole

    int sources = 1;       ///< gradients that sweeps add up: program_options::gradient_sources

    constexpr bool in_buckets() const { return policy == gradient_policy::reduced; }
    constexpr int rows(int parameter) const { return list_rows ? list_rows[parameter] : 0; }
    /// Lists are numbered in the order of their parameters. -1: this parameter's gradient is none.
    constexpr int list_of(int parameter) const {
        int n = rows(parameter) ? 0 : -1;
        for (int i = 0; n >= 0 && i < parameter; ++i) n += rows(i) > 0;
        return n;
    }
};

/// f(parameter) for all that are trained, in memory's order.
template <class F>
constexpr void for_each_trained(const graph_view& g, const gradient_layout& l, F f) {
    const int n = g.parameters.n;
    for (int pass = 0; pass < (l.in_buckets() ? 1 : 2); ++pass)
        for (int k = 0; k < n; ++k) {
            const int i = l.in_buckets() ? n - 1 - k : k;
            const variable& v = g.parameters[i];
            if (v.group < 0) continue;
            if (l.in_buckets() || (g.n[v.id].s.form == layout::weights) == (pass == 0)) f(i);
        }
}

/// A list of rows: its keys, integers, are `list_header` floats behind their number; row k of
/// the list is of the table's row key k. Rows behind the last are zero.
constexpr std::int64_t floats_of_keys(int rows) { return list_header + round_up(std::int64_t{rows}, 16); }
constexpr std::int64_t floats_of_rows(int rows, const shape& table) {
    return round_up(std::int64_t{rows} * table.last(), 16);
}

/// Where the keys of a parameter's list lie, if those of all lists begin at `first` (floats of the
/// gradients' arena).
constexpr address keys_of(const graph_view& g, const gradient_layout& l, std::int64_t first, int parameter) {
    bool before = true;
    for_each_trained(g, l, [&](int i) {
        before = before && i != parameter;
        if (before && l.rows(i)) first += floats_of_keys(l.rows(i));
    });
    return {space::gradient, first};
}

} // namespace sinter::compiler
