// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/launch_writer.hpp>
#include <sinter/compiler/passes/lazy_rows.hpp>
#include <sinter/compiler/plan/plan.hpp>
#include <sinter/compiler/emit/update_set.hpp>

/// Emission of the optimizer: behind the kernels that make gradients, and in sweeps over memory for the rest.
///
/// A step does this with a gradient: it is used up by its own kernel, or stored and swept. Updates that must know something
/// of a whole parameter first (its norm) get a pass that sums before their sweep, and a sweep for each parameter. Where
/// gradients are accumulated, each step adds them to a slot, in the ways just said, and what follows (norms, sums, sweeps that
/// read the slot as the gradient) runs in each k-th step alone.
namespace sinter::inline SINTER_TARGET {

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
                             const update_set& u, const target& t, launch_writer& w)
        : g_(g), at_(at), z_(z), updated_(updated), u_(u), t_(t), write_(w) {}

    /// What the step does with the gradient of parameter i, behind the node that finishes it.
    constexpr void splice(int i) {
        write_.body.splice(base_of(g_.n, g_.gradients[i]), u_.in_step(g_.parameters[i]),
                           [&](int k) { return operand(i, at_[g_.parameters[i].id].offset(), k, false); });
    }
    /// Where gradients are accumulated: adds those up that no kernel has.
    constexpr void gather() {
        if (u_.every > 1) sweep(false);
    }
    /// All updates that no kernel has done. Parameters that the loss does not depend on have no gradient and stay as they are.
    constexpr void update() {
        if (u_.needs_norm()) norm_of_gradients();
        sweep(true);
    }

private:
    const graph_view& g_;
    const address* at_;
    const plan_sizes& z_;
    const bool* updated_;
    const update_set& u_;
    const target& t_;
    launch_writer& write_;

    /// Where port k of parameter `parameter`'s code lies, that parameter or a stretch of several beginning at `offset`.
    /// `last`: in the code that writes the parameter.
    constexpr address operand(int parameter, std::int64_t offset, int k, bool last) const {
        if (k == weight_operand) return at_[g_.states[g_.states.n - 1].id];   // gather_loss made it last
        if (k == norm_operand) return {space::gradient, z_.trained};   // behind the last gradient
        if (k >= first_sum_operand) return {space::gradient, z_.trained + u_.sum_place(parameter, k - first_sum_operand)};
        if (k == 1 && last && u_.every > 1) return {space::slot, (u_.slots - 1) * z_.trained + offset};
        return k == 0 ? address{space::parameter, offset} : k == 1 ? address{space::gradient, offset}
                      : address{space::slot, (k - 2) * z_.trained + offset};
    }

    /// One walk for each stretch of neighbouring parameters that are treated alike. `last`: the updates themselves;
    /// otherwise, where gradients are accumulated, what each step does.
    constexpr void sweep(bool last) {
        for (int pass = 0; pass < 2; ++pass) {
            std::int64_t begin = -1, end = -1;
            const update_code* code = nullptr;
            auto flush = [&] {
                if (begin >= 0) stretch(-1, begin, end, *code, last);
                begin = -1;
            };
            for (int i = 0; i < g_.parameters.n; ++i) {
                const variable& v = g_.parameters[i];
                if (v.group < 0 || (g_.n[v.id].s.form == layout::weights) == (pass == 1)) continue;
                const group_update& of = u_.of(v);
                const update_code& its = last ? of.last : u_.gather;
                const bool done = updated_[i] && (!last || u_.every == 1);
                if (begin >= 0 && (done || g_.gradients[i] < 0 || &its != code)) flush();
                if (done || g_.gradients[i] < 0 || !its.code.n) continue;
                const std::int64_t at = at_[v.id].offset(), behind = at + place_size(g_.n[v.id], t_, 1);
                const int indices = !last || u_.lazy(v) ? indices_of_gradient(g_, i) : -1;
                if ((last && of.levels) || indices >= 0) {
                    flush();
                    for (int k = 0; last && k < of.levels; ++k) sums(i, at, behind, of.sums[k]);
                    if (indices >= 0) rows(i, indices, its, last);
                    else stretch(i, at, behind, its, last);
                } else {
                    if (begin < 0) begin = at;
                    end = behind;
                    code = &its;
                }
            }
            flush();
        }
    }
    constexpr void norm_of_gradients() {
        const address gradients = operand(-1, 0, 1, true);
        begin_rows(0, z_.trained);
        write_.body.sum_of_squares(gradients, {space::gradient, z_.trained});
        finish_rows(0, z_.trained);
    }
    constexpr void sums(int parameter, std::int64_t begin, std::int64_t end, const update_code& code) {
        begin_rows(begin, end);
        write_.body.splice(-1, code, [&](int k) { return operand(parameter, begin, k, true); });
        finish_rows(begin, end);
    }
    constexpr void begin_rows(std::int64_t begin, std::int64_t end) {
        group q;
        q.space = extents(static_cast<int>((end - begin) / 16), 16);
        write_.body.begin(q);
    }
    constexpr void finish_rows(std::int64_t begin, std::int64_t end) {
        spec s;
        launch l;
        s.kind = walk::rows;
        l.m = (end - begin) / 16;
        l.every = u_.every;
        write_.finish(s, l, end - begin);
    }
    /// A table's lazy update: of the rows that `indices` name alone, whose gradients have been summed. Behind a round of steps, of those
    /// that have gathered anything: see accumulate.hpp.
    constexpr void rows(int parameter, int indices, const update_code& code, bool last) {
        const shape table = g_.n[base_of(g_.n, g_.gradients[parameter])].s;   // [V, E]
        const std::int64_t offset = at_[g_.parameters[parameter].id].offset();
        const bool of_round = last && u_.every > 1;
        const address by = of_round ? operand(parameter, offset, 1, true) : at_[indices];
        spec s;
        launch l;
        group q;
        q.space = table;
        write_.body.begin(q);
        write_.body.operand(by);
        write_.body.operand(by);   // there are no rows to be summed
        write_.body.splice(-1, code, [&](int k) { return operand(parameter, offset, k, last); });
        s.kind = op::scatter_rows;
        std::int64_t* const e = write_.extents();
        e[scatter_rows_extent::width] = table.last();
        e[scatter_rows_extent::rows] = table.d[0];
        e[scatter_rows_extent::lazy] = 1;
        e[scatter_rows_extent::body_reads] = of_round ? scatter_rows_sums::of_round : scatter_rows_sums::occurring;
        l.m = of_round ? 1 : g_.n[indices].s.size();
        l.batched = !of_round && g_.n[indices].s.batched;
        l.updates = true;
        if (last) l.every = u_.every;
        write_.finish(s, l, table.size());
    }
    constexpr void stretch(int parameter, std::int64_t begin, std::int64_t end, const update_code& code, bool last) {
        spec s;
        launch l;
        group q;
        q.space = extents(static_cast<int>(end - begin < 0x7fffffff ? end - begin : 0x7fffffff));   // l.m counts
        write_.body.begin(q);
        write_.body.splice(-1, code, [&](int k) { return operand(parameter, begin, k, last); });
        l.m = end - begin;
        l.updates = true;
        if (last) l.every = u_.every;
        write_.finish(s, l, end - begin);
    }
};

} // namespace sinter
