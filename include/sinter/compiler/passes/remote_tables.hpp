// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/leaves.hpp>
#include <sinter/graph/graph_view.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/detail/runtime_scalar.hpp>
#include <sinter/ops/internal/batch_share.hpp>
#include <sinter/ops/internal/hashed_rows.hpp>
#include <sinter/ops/over_batch.hpp>
#include <sinter/ops/over_global_batch.hpp>
#include <sinter/compiler/passes/copy_names.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// Tables that servers keep (program_options::remote_tables). A parameter [V, E] that is only
/// looked up becomes a compact copy [C, E] of the rows that a batch names, C = min(V, lookups of
/// the largest batch),
///
///     gather_rows(table [V, E], i)   becomes   gather_rows(copy [C, E], an input port of i's shape)
///
/// and whoever runs the program fills the copy and the ports
/// (strategy/parameter_server/remote_tables.hpp). Likewise hashed_rows, of a table whose rows have
/// 64-bit keys (V is unknown, C the lookups of a batch). Ports of lookups lie behind the net's
/// inputs. `i` must be an input or a target as it is given, or reshaped, or numbers that are drawn
/// in each step, the same for all examples, as a sampled softmax's candidates are: these become an
/// input, too, for whoever runs the program must have drawn them before
/// (strategy/parameter_server/drawn_rows.hpp). Else the fault lookup_is_computed. A table that is
/// used in another way too (as the matrix of a tied softmax) stays a parameter like others.
///
/// Which tables are remote, and how many rows their copies have, training decides: all programs of
/// a model find parameters at the same places. It runs before differentiation, so gradients are
/// those of the copy.
namespace sinter::inline SINTER_TARGET::compiler {

class remote_table_rewriting {
public:
    /// `to` is an empty graph. `training`: the training program's graph behind this pass; empty:
    /// this is it. `parts`: of a batch, each with numbers of its own where numbers are drawn.
    constexpr remote_table_rewriting(const graph_view& from, graph& to, int examples, int parts,
                                     const graph_view& training)
        : from_(from), to_(to), examples_(examples), parts_(parts), training_(training), copy_rows_(from.n.n, 0),
          is_target_(from.n.n, false), place_(from.n.n, -1), drawn_of_(from.n.n, -1) {
        choose();
        find_lookups();
    }
    /// The nodes of `from` whose numbers are drawn.
    constexpr const growing<int>& drawn() const { return drawn_; }

    constexpr void run() {
        for (int i = 1; i < from_.scopes.n; ++i) to_.scopes.restore(from_.scopes[i]);
        for (int v : from_.targets) is_target_[v] = true;
        for (int v = 0; v < from_.n.n; ++v) place_[v] = append(v);
        copy_names(from_, to_, [&](int v) { return at(v); });
        for (const lookup& l : lookups_.all()) to_.inputs.push(l.port);
        for (int v : drawn_.all()) to_.inputs.push(at(v));
    }

private:
    /// Of one table by one node of indices; `port`: its input in `to`.
    struct lookup { int table = -1, indices = -1, port = -1; };
    const graph_view& from_;
    graph& to_;
    int examples_, parts_;
    const graph_view& training_;
    growing<int> copy_rows_;     ///< of each node: the rows of its compact copy; 0: it is no remote table
    growing<bool> is_target_;
    growing<int> place_;         ///< of each node in `to`
    growing<lookup> lookups_;
    growing<int> drawn_;         ///< nodes of indices that are drawn
    growing<int> drawn_of_;      ///< of each node its number among these, or -1

    constexpr int at(int v) const { return v < 0 ? -1 : place_[v]; }
    static constexpr bool looks_up(const node& n) {
        return is(n, op_role::gather_rows) || n.k == op::hashed_rows;
    }
    /// The extents of a lookup's port: one place for each row that it gives.
    constexpr shape port_shape(const node& n) const {
        shape s = from_.n[n.in[1]].s;
        if (n.k == op::hashed_rows) s.d[--s.rank] = 0;
        return s;
    }
    constexpr void choose() {
        growing<std::int64_t> looked_up(from_.n.n, 0);
        growing<bool> otherwise(from_.n.n, false);
        const auto read = [&](int v) {
            if (v >= 0) otherwise[v] = true;
        };
        for (const node& n : from_.n)
            for (int k = 0; k < n.operands; ++k) {
                if (const shape s = k == 0 && looks_up(n) ? port_shape(n) : shape{}; k == 0 && looks_up(n))
                    looked_up[n.in[0]] += std::int64_t{s.size()} * (s.batched ? examples_ : parts_);
                else read(n.in[k]);
            }
        for (int v : from_.outputs) read(v);
        for (const assignment& a : from_.assignments) read(a.value);
        for (const loop_carry& c : from_.carries) read(c.value), read(c.next);
        for (int i = 0; i < from_.parameters.n; ++i) {
            const int v = from_.parameters[i].id;
            const shape& s = from_.n[v].s;
            if (otherwise[v] || s.rank != 2 || s.batched || s.form != layout::plain) continue;
            const bool hashed = from_.n[v].p[variable_attribute::remote_rows] < 0;
            const std::int64_t all = hashed ? looked_up[v] : s.d[0];
            if (training_.n.n) {
                const node& n = training_.n[training_.parameters[i].id];
                copy_rows_[v] = n.p[variable_attribute::remote_rows] ? n.s.d[0] : 0;
            } else {
                copy_rows_[v] = static_cast<int>(looked_up[v] < all ? looked_up[v] : all);
            }
        }
    }
    constexpr int number_of(int table, int indices) const {
        for (int i = 0; i < lookups_.n; ++i)
            if (lookups_[i].table == table && lookups_[i].indices == indices) return i;
        return -1;
    }
    constexpr void find_lookups() {
        for (const node& n : from_.n)
            if (looks_up(n) && copy_rows_[n.in[0]] && number_of(n.in[0], n.in[1]) < 0)
                lookups_.push({n.in[0], n.in[1]});
        growing<bool> given(from_.n.n, false);
        find_given(given);
        for (const lookup& l : lookups_.all())
            if (const int v = l.indices; !given[v] && drawn_of_[v] < 0) drawn_of_[v] = drawn_.push(v);
    }
    static constexpr bool counts_examples(const node& n) {
        return n.k == op::over_batch || n.k == op::over_global_batch || n.k == op::batch_share;
    }
    /// Which nodes are made of something that is given or learnt, and not of constants and draws
    /// alone.
    constexpr void find_given(growing<bool>& given) const {
        for (int v = 0; v < from_.n.n; ++v) {
            const node& n = from_.n[v];
            const bool leaf = is_leaf(n) && n.k != op::constant && n.k != op::table;
            given[v] = leaf || n.k == op::runtime_scalar || counts_examples(n) || n.s.batched || n.loop;
            for (int k = 0; k < n.operands; ++k) given[v] = given[v] || given[n.in[k]];
        }
    }
    /// The input or target whose numbers these are, in their order; -1: none.
    constexpr int source_of(int indices) const {
        while (is_view(from_.n[indices]) && from_.n[indices].k == op::reshape) indices = from_.n[indices].in[0];
        return from_.n[indices].k == op::input ? indices : -1;
    }
    constexpr int append(int v) {
        node n = from_.n[v];
        if (drawn_of_[v] >= 0) return input_of_drawn(v);
        if (looks_up(n) && copy_rows_[n.in[0]]) {
            const int table = n.in[0], port = port_of(n);
            n.k = op::gather_rows;
            n.about = &info_of<op::gather_rows>;
            n.in[0] = place_[table];
            n.in[1] = port;
        } else {
            for (int k = 0; k < n.operands; ++k) n.in[k] = place_[n.in[k]];
        }
        if (n.k == op::input && is_target_[v]) n.p[input_attribute::port] += lookups_.n + drawn_.n;
        if (copy_rows_[v]) {
            if (int& rows = n.p[variable_attribute::remote_rows]; rows == 0) rows = n.s.d[0];
            n.s.d[0] = copy_rows_[v];
        }
        to_.restore(n);
        return to_.n.n - 1;
    }
    /// The input that stands for numbers that are drawn.
    constexpr int input_of_drawn(int v) {
        const int below = from_.n[v].about->below(from_.n[v]);
        node n = node_of<op::input>();
        n.s = from_.n[v].s;
        n.scope = from_.n[v].scope;
        n.loop = 0;
        n.p[input_attribute::port] = from_.inputs.n + lookups_.n + drawn_of_[v];
        n.p[input_attribute::below] = below > 0 ? below : 0;
        n.p[input_attribute::names_from] = -1;
        to_.restore(n);
        return to_.n.n - 1;
    }
    /// The input of a lookup's places.
    constexpr int port_of(const node& gather) {
        lookup& l = lookups_[number_of(gather.in[0], gather.in[1])];
        if (l.port >= 0) return l.port;
        const int drawn = drawn_of_[l.indices], source = drawn < 0 ? source_of(l.indices) : l.indices;
        const node& table = from_.n[l.table];
        if (source < 0) {
            to_.scope = gather.scope;
            to_.fail(fault_kind::lookup_is_computed, gather.about->self, from_.n[l.indices].s, table.s);
        }
        node n = node_of<op::input>();
        n.s = port_shape(gather);
        n.scope = gather.scope;
        n.loop = 0;
        n.p[input_attribute::port] = from_.inputs.n + static_cast<int>(&l - &lookups_[0]);
        n.p[input_attribute::below] = copy_rows_[l.table];
        n.p[input_attribute::table] = table.p[variable_attribute::number] + 1;
        if (drawn >= 0) n.p[input_attribute::names_from] = from_.inputs.n + lookups_.n + drawn;
        else if (source >= 0)
            n.p[input_attribute::names_from] =
                from_.n[source].p[input_attribute::port] + (is_target_[source] ? lookups_.n + drawn_.n : 0);
        to_.restore(n);
        return l.port = to_.n.n - 1;
    }
};

namespace pass {
struct remote_tables {
    static constexpr bool enabled(const target&, const program_options& o) { return o.remote_tables > 0; }
    static constexpr void run(const graph_view& from, graph& to, const graph_view& training, const pass_settings& s) {
        remote_table_rewriting(from, to, s.options.remote_tables, s.options.remote_parts, training).run();
    }
};
} // namespace pass

} // namespace sinter::compiler
