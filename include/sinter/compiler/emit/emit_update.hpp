// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/launch_writer.hpp>
#include <sinter/compiler/passes/lazy_rows.hpp>
#include <sinter/compiler/plan/plan.hpp>
#include <sinter/compiler/emit/update_set.hpp>

/// Emission of the optimizer: behind the kernels that make gradients, and in sweeps over memory for
/// the rest.
///
/// A step does this with a gradient: it is used up by its own kernel, or stored and swept. Updates
/// that must know something of a whole parameter first (its norm) get a pass that sums before their
/// sweep, and a sweep for each parameter. Where gradients are accumulated, each step adds them to a
/// slot, in the ways just said, and what follows (norms, sums, sweeps that read the slot as the
/// gradient) runs in each k-th step alone.
namespace sinter::inline SINTER_TARGET::compiler {

struct emitted_bounds {
    int groups = 1, code = 1, args = 1, constants = 1, loops = 1, buffers = 1;
};
/// Of what is emitted for one parameter, at most.
constexpr emitted_bounds bounds_of(const update_set& u) {
    emitted_bounds most;
    auto add = [](emitted_bounds& to, const update_code& c, int sums) {
        to.code += c.code.n + 2 * sums + 1;
        to.args += c.operand.n + 3;   // two of a table's lazy update
        to.constants += c.constants.n + 1;
    };
    for (const group_update& g : u.groups) {
        emitted_bounds b;
        add(b, g.last, 0);
        add(b, u.gather, 0);
        for (int k = 0; k < g.levels; ++k) add(b, g.sums[k], u.sums);
        if (b.code > most.code) most.code = b.code;
        if (b.args > most.args) most.args = b.args;
        if (b.constants > most.constants) most.constants = b.constants;
    }
    return most;
}

class update_emitter {
public:
    constexpr update_emitter(const graph_view& g, const address* at, const plan_sizes& z, const bool* updated,
                             const update_set& u, const target& t, launch_writer& w, const gradient_layout& l)
        : g_(g), at_(at), z_(z), updated_(updated), u_(u), t_(t), write_(w), layout_(l),
          gathered_(u.every > 1 ? g.parameters.n : 0, false) {}

    /// What the step does with the gradient of parameter i, behind the node that finishes it.
    constexpr void splice(int i) {
        write_.body.splice(base_of(g_.n, g_.gradients[i]), u_.in_step(g_.parameters[i]),
                           [&](int k) { return operand(place_of(i), k, false); });
    }
    /// Where the keys of parameter i's gradient lie, which is a list of rows.
    constexpr address keys(int i) const { return keys_of(g_, layout_, z_.summed_gradients, i); }
    /// Where gradients are accumulated: adds those up that nobody has. With `group_of`, each node's
    /// group: those that `group` makes.
    constexpr void gather(const int* group_of = nullptr, int group = -1) { sweep(false, group_of, group); }
    constexpr bool accumulates() const { return u_.every > 1; }
    /// The sum of the squares of all gradients, where an update wants it: of each by itself, and of
    /// these sums in the order of the parameters, so that it does not depend on how gradients lie.
    constexpr void norm_of_gradients() {
        if (!u_.needs_norm()) return;
        for (int i = 0; i < g_.parameters.n; ++i) {
            if (g_.parameters[i].group < 0 || g_.gradients[i] < 0) continue;
            const place p = place_of(i);
            const std::int64_t floats = floats_of_sums(i);
            begin_rows(i, floats);
            write_.body.sum_of_squares(operand(p, 1, true), {space::gradient, z_.gradients + u_.norm_place(i)},
                                       sources_of(i));
            finish_sums(p, floats);
        }
        const std::int64_t all = std::int64_t{16} * g_.parameters.n;
        begin_rows(-1, all);
        write_.body.sum_of({space::gradient, z_.gradients + u_.norm_place(0)}, operand({}, norm_operand, true));
        finish_rows(-1, all);
    }
    /// All updates that no kernel has done. Parameters that the loss does not depend on have no
    /// gradient and stay as they are.
    constexpr void update() { sweep(true); }

private:
    const graph_view& g_;
    const address* at_;
    const plan_sizes& z_;
    const bool* updated_;
    const update_set& u_;
    const target& t_;
    launch_writer& write_;
    gradient_layout layout_;
    growing<bool> gathered_;   ///< of each parameter: a sweep has added its gradient to the others of the round

    /// A parameter, or a stretch of several that begins with it.
    struct place {
        int parameter = -1;
        std::int64_t offset = 0;   ///< among the trained parameters, and so in each slot
        address gradient;
    };
    constexpr place place_of(int i) const {
        place p;   // not {..}: g++ 12 takes the copy of a constant's element for a change of it
        p.parameter = i;
        p.offset = at_[g_.parameters[i].id].offset();
        p.gradient = at_[base_of(g_.n, g_.gradients[i])];
        return p;
    }
    /// Where port k of the code lies that updates what is at `p`. `last`: in the code that writes
    /// the parameter.
    constexpr address operand(const place& p, int k, bool last) const {
        if (k == weight_operand) return at_[g_.states[g_.states.n - 1].id];   // gather_loss made it last
        if (k == norm_operand) return {space::gradient, z_.gradients};   // behind the last gradient
        if (k >= first_sum_operand)
            return {space::gradient,
                    z_.gradients + u_.sum_place(g_.parameters.n, p.parameter, k - first_sum_operand)};
        if (k == 1 && last && u_.every > 1) return {space::slot, (u_.slots - 1) * z_.trained + p.offset};
        return k == 0 ? address{space::parameter, p.offset} : k == 1 ? p.gradient
                      : address{space::slot, (k - 2) * z_.trained + p.offset};
    }

    /// One walk for each stretch of neighbouring parameters that are treated alike, whose gradients
    /// are neighbours, too. `last`: the updates themselves; otherwise, where gradients are
    /// accumulated, what each step does. `group_of`, `group`: as gather() has them.
    constexpr void sweep(bool last, const int* group_of = nullptr, int group = -1) {
        const bool reads_slot = last && u_.every > 1;
        std::int64_t end = -1;
        place begin;
        const update_code* code = nullptr;
        bool packed = false;
        const auto flush = [&] {
            if (begin.parameter >= 0) stretch(begin, end - begin.offset, *code, last);
            begin.parameter = -1;
        };
        for_each_trained(g_, layout_, [&](int i) {
            const variable& v = g_.parameters[i];
            if (const bool is_packed = g_.n[v.id].s.form == layout::weights; is_packed != packed) {
                packed = is_packed;
                if (!layout_.in_buckets()) flush();
            }
            const group_update& of = u_.of(v);
            const update_code& its = last ? of.last : u_.gather;
            const bool done = g_.gradients[i] < 0 ||
                              (group_of && group_of[base_of(g_.n, g_.gradients[i])] != group) ||
                              (last ? updated_[i] && u_.every == 1 : updated_[i] || gathered_[i]);
            if (begin.parameter >= 0 && (done || &its != code)) flush();
            if (done || !its.code.n) return;
            if (!last) gathered_[i] = true;
            const place here = place_of(i);
            const std::int64_t size = place_size(g_.n[v.id], t_, 1);
            const bool list = layout_.rows(i) > 0;
            const int indices = !list && (!last || u_.lazy(v)) ? indices_of_gradient(g_, i) : -1;
            if ((last && of.levels) || indices >= 0 || list) {
                flush();
                for (int k = 0; last && k < of.levels; ++k) sums(here, of.sums[k]);
                if (list) list_of_rows(here, its);
                else if (indices >= 0) rows(here, indices, its, last);
                else stretch(here, size, its, last);
                return;
            }
            if (begin.parameter >= 0 && !reads_slot &&
                here.gradient.offset() - begin.gradient.offset() != here.offset - begin.offset)
                flush();
            if (begin.parameter < 0) begin = here;
            end = here.offset + size;
            code = &its;
        });
        flush();
    }
    /// Floats of a gradient that sums go over: of a list, those of the longest.
    constexpr std::int64_t floats_of_sums(int i) const {
        const node& n = g_.n[g_.parameters[i].id];
        return layout_.rows(i) ? floats_of_rows(layout_.rows(i), n.s) : place_size(n, t_, 1);
    }
    /// How many gradients sweeps and sums add up for parameter i; those of tables are joined.
    constexpr int sources_of(int i) const {
        return u_.lazy(g_.parameters[i]) && indices_of_gradient(g_, i) >= 0 ? 1 : layout_.sources;
    }
    constexpr void sums(const place& p, const update_code& code) {
        const std::int64_t floats = floats_of_sums(p.parameter);
        begin_rows(p.parameter, floats);
        write_.body.splice(-1, code, [&](int k) { return operand(p, k, true); }, sources_of(p.parameter));
        finish_sums(p, floats);
    }
    /// Of the rows that sums go over, of parameter i or of none: of a vector's length or, where
    /// threads share a row, longer, if the floats can be divided so.
    constexpr int row_of_sums(int i, std::int64_t floats) const {
        int n = 16;
        if (t_.lanes == 1 && t_.parts == 1 && !(i >= 0 && layout_.rows(i)))
            while (n < 512 && floats % (2 * n) == 0) n *= 2;
        return n;
    }
    constexpr void begin_rows(int i, std::int64_t floats) {
        const int row = row_of_sums(i, floats);
        group q;
        q.space = extents(static_cast<int>(floats / row), row);
        write_.body.begin(q);
    }
    constexpr void finish_sums(const place& p, std::int64_t floats) {
        launch l;
        l.list = layout_.list_of(p.parameter);
        l.gradient = operand(p, 1, true);
        finish_rows(p.parameter, floats, l);
    }
    constexpr void finish_rows(int i, std::int64_t floats, launch l = {}) {
        spec s;
        s.kind = walk::rows;
        l.m = floats / row_of_sums(i, floats);
        l.every = u_.every;
        write_.finish(s, l, floats);
    }
    constexpr const shape& table_of(int parameter) const {
        return g_.n[base_of(g_.n, g_.gradients[parameter])].s;
    }   // [V, E]
    constexpr void begin_table(const shape& table) {
        group q;
        q.space = table;
        write_.body.begin(q);
    }
    /// `body_reads`: of scatter_rows_sums.
    constexpr void finish_table(const shape& table, launch& l, int body_reads, bool last) {
        spec s;
        s.kind = op::scatter_rows;
        l.role = op_role::scatter_rows;
        std::int64_t* const e = write_.extents();
        e[scatter_rows_extent::width] = table.last();
        e[scatter_rows_extent::rows] = table.d[0];
        e[scatter_rows_extent::lazy] = 1;
        e[scatter_rows_extent::body_reads] = body_reads;
        l.updates = true;
        if (last) l.every = u_.every;
        write_.finish(s, l, table.size());
    }
    /// A table's lazy update: of the rows that `indices` name alone, whose gradients have been
    /// summed. Behind a round of steps, of those that have gathered anything: see accumulate.hpp.
    /// So it is in buckets on devices that make no lists, where others' gradients have been added.
    constexpr void rows(const place& p, int indices, const update_code& code, bool last) {
        const shape& table = table_of(p.parameter);
        const bool of_round = last && (u_.every > 1 || layout_.in_buckets());
        const address by = of_round ? operand(p, 1, true) : at_[indices];
        begin_table(table);
        write_.body.operand(by);
        write_.body.operand(by);   // there are no rows to be summed
        write_.body.splice(-1, code, [&](int k) { return operand(p, k, last); });
        launch l;
        if (last) l.gradient = operand(p, 1, true);
        l.m = of_round ? 1 : g_.n[indices].s.size();
        l.batched = !of_round && g_.n[indices].s.batched;
        finish_table(table, l, of_round ? scatter_rows_sums::of_round : scatter_rows_sums::occurring, last);
    }
    /// The same where the gradient is a list of rows: of the rows that are in it.
    constexpr void list_of_rows(const place& p, const update_code& code) {
        const shape& table = table_of(p.parameter);
        const int d = base_of(g_.n, g_.gradients[p.parameter]);
        begin_table(table);
        write_.body.operand(keys(p.parameter));
        write_.body.operand(p.gradient);
        write_.body.accumulator(d);
        write_.body.splice(d, code, [&](int k) { return operand(p, k, true); });
        launch l;
        l.list = layout_.list_of(p.parameter);
        l.gradient = p.gradient;
        finish_table(table, l, scatter_rows_sums::listed, true);
    }
    constexpr void stretch(const place& p, std::int64_t floats, const update_code& code, bool last) {
        spec s;
        launch l;
        group q;
        q.space = extents(static_cast<int>(floats < 0x7fffffff ? floats : 0x7fffffff));   // l.m counts
        write_.body.begin(q);
        write_.body.splice(-1, code, [&](int k) { return operand(p, k, last); }, last ? layout_.sources : 1);
        l.m = floats;
        l.updates = true;
        if (last) {
            l.every = u_.every;
            l.gradient = operand(p, 1, true);
            const view<const address> args = write_.body.args();
            for (int i = 0; i < args.n; ++i)
                for (int k = 0; k < 2 + u_.slots; ++k)
                    if (args[i].bits == operand(p, k, true).bits) l.by_element |= 1u << i;
        }
        write_.finish(s, l, floats);
    }
};

} // namespace sinter::compiler
