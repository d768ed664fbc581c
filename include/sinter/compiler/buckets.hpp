// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/spec.hpp>
#include <sinter/compiler/emit/update_set.hpp>
#include <sinter/compiler/plan/plan.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// Gradients that lie together and may be added to others' as soon as they are final, under
/// gradient_policy::reduced. A bucket holds whole tensors. All buckets together are the gradients'
/// arena, but for what norms and sums are kept in behind it; or, where steps are accumulated, the
/// slot in which that is done, of all parameters that have gradients.
struct gradient_bucket {
    address at;                ///< of the first float
    std::int64_t floats = 0;   ///< with padding, which stays zero (-0 where steps are accumulated)
    /// The launch behind whose end nothing is written here, or read, before program_segments::first_update. (The
    /// backward pass of batch_norm reads the gradients of scale and shift.)
    int final_after = -1;
    int every = 1;             ///< 3: final in each third step
    /// A table's gradient is a list of rows (base/row_list.hpp), whose keys are at `keys` and whose
    /// rows are at `at`. Whoever adds up lists gives the update one that has each key once, however
    /// long, in whatever order: in place, or as step_arguments::lists.
    ///
    /// Where steps are accumulated there is no list: the table's slot is a bucket by itself, in
    /// which rows of nothing but -0 have gathered nothing (strategy/joined_rows.hpp makes a list of
    /// the others).
    int parameter = -1;        ///< the table; -1: gradients in this bucket are not sparse
    int most_rows = 0, row_floats = 0;
    address keys;
    int list = -1;             ///< its number among lists

    constexpr bool is_list() const { return list >= 0; }
};

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::detail {
/// The launch with whose end launch i is over: one that is run by the next ends with that, one of a
/// loop with the loop.
constexpr int ends_with(const launch* launches, view<const loop_launches> loops, int i) {
    while (launches[i].is_producer) ++i;
    for (const loop_launches& l : loops)
        if (i >= l.first && i < l.end) i = l.end - 1;
    return i;
}
} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

/// What is known of a program when its buckets are cut.
struct emitted_program {
    view<const launch> launches;
    view<const loop_launches> loops;
    view<const address> args;
    int first_update = 0;
};

/// Buckets, in the order in which they become final; `bucket_of[i]`: parameter i's, or -1.
constexpr void cut_buckets(const graph_view& g, const grouping& r, const address* at, const plan_sizes& z,
                           const bool* updated, const update_set& u, const target& t, int max_batch,
                           const gradient_layout& l, std::int64_t bucket_floats, const emitted_program& p,
                           growing<gradient_bucket>& out, int* bucket_of) {
    for (int i = 0; i < g.parameters.n; ++i) bucket_of[i] = -1;
    if (!l.in_buckets()) return;
    const auto final_after = [&](int i) {   // behind its kernel or, where a sweep gathers it, the sweeps behind that
        const int group = r.of[base_of(g.n, g.gradients[i])];
        int k = 0;
        while (k < p.launches.n && p.launches[k].group != group) ++k;
        if (k == p.launches.n) return p.first_update - 1;
        if (u.every == 1 || updated[i]) return detail::ends_with(p.launches.p, p.loops, k);
        int last = k;
        while (last + 1 < p.first_update && p.launches[last + 1].group < 0) ++last;
        return last > k ? last : p.first_update - 1;
    };
    growing<int> number(g.parameters.n, -1);
    gradient_bucket open;
    const auto close = [&] {
        if (open.floats) out.push(open);
        open = {};
    };
    const auto add = [&](int i, address from, std::int64_t floats) {
        const bool fits = open.at.where() == from.where() && open.at.offset() + open.floats == from.offset();
        if (!open.floats || !fits || open.floats >= bucket_floats) {
            close();
            open.at = from;
            open.every = u.every;
        }
        open.floats += floats;
        if (const int last = final_after(i); open.final_after < last) open.final_after = last;
        number[i] = out.n;
    };
    const auto gathers_rows = [&](int i) {   // in a slot, of a table
        return u.every > 1 && u.lazy(g.parameters[i]) && indices_of_gradient(g, i) >= 0;
    };
    for_each_trained(g, l, [&](int i) {
        if (g.gradients[i] < 0 || l.rows(i)) return;
        const std::int64_t floats = place_size(g.n[g.parameters[i].id], t, 1);
        if (gathers_rows(i)) close();
        if (u.every == 1) add(i, at[base_of(g.n, g.gradients[i])], floats);
        else add(i, {space::slot, (u.slots - 1) * z.trained + at[g.parameters[i].id].offset()}, floats);
        if (!gathers_rows(i)) return;
        open.parameter = i;
        open.row_floats = g.n[g.parameters[i].id].s.last();
        const int rows = g.n[g.parameters[i].id].s.d[0];
        const std::int64_t most = std::int64_t{u.every} * most_rows_of_gradient(g, i, max_batch);
        open.most_rows = most < rows ? static_cast<int>(most) : rows;
        close();
    });
    close();
    for_each_trained(g, l, [&](int i) {
        if (!l.rows(i)) return;
        const int d = base_of(g.n, g.gradients[i]), row = g.n[d].s.last();
        number[i] = out.n;
        out.push({at[d], floats_of_rows(l.rows(i), g.n[d].s), final_after(i), 1, i, l.rows(i), row,
                  keys_of(g, l, z.summed_gradients, i), l.list_of(i)});
    });
    // A sum over members takes the place of the gradient: not before the last launch that reads it.
    for (int i = 0; i < p.first_update; ++i)
        for (int k = 0; k < p.launches[i].args; ++k) {
            const address a = p.args[p.launches[i].first_arg + k];
            if (a.where() != space::gradient) continue;
            for (int j = 0; j < out.n; ++j) {
                gradient_bucket& b = out[j];
                if (b.at.where() != space::gradient || a.offset() < b.at.offset() ||
                    a.offset() >= b.at.offset() + b.floats)
                    continue;
                if (const int end = detail::ends_with(p.launches.p, p.loops, i); b.final_after < end)
                    b.final_after = end;
            }
        }
    growing<int> place(out.n, 0);   // old -> new
    for (int k = 0; k < out.n; ++k) {
        int now = 0;
        for (int j = 0; j < out.n; ++j)
            now += out[j].final_after < out[k].final_after || (out[j].final_after == out[k].final_after && j < k);
        place[k] = now;
    }
    growing<gradient_bucket> sorted(out.n, gradient_bucket{});
    for (int k = 0; k < out.n; ++k) sorted[place[k]] = out[k];
    for (int k = 0; k < out.n; ++k) out[k] = sorted[k];
    for (int i = 0; i < g.parameters.n; ++i)
        if (number[i] >= 0) bucket_of[i] = place[number[i]];
}

} // namespace sinter::compiler
