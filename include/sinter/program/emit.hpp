// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/program/emit_body.hpp>
#include <sinter/program/plan.hpp>
#include <sinter/program/spec.hpp>

/// Emission: each group becomes a launch, and its kernel a spec shared by all equal ones.
namespace sinter {

struct listing {
    view<spec> specs;
    view<std::uint64_t> code;
    view<launch> launches;
    view<address> args;
    view<std::int64_t> extents;
    view<float> constants;
    view<loop_launches> loops;
    view<loop_buffer> buffers;
};
struct emitted_bounds {
    int groups = 1, code = 1, args = 1, constants = 1, loops = 1, buffers = 1;
};
template <int Groups, int Code, int Args, int Constants, int Loops, int Buffers>
struct emitted {
    spec specs[Groups];
    std::uint64_t code[Code];
    launch launches[Groups];
    address args[Args];
    std::int64_t extents[Groups * extent::count];
    float constants[Constants];
    loop_launches loops[Loops];
    loop_buffer buffers[Buffers];
    int n_loops = 0, n_buffers = 0;
    int n_specs = 0, n_code = 0, n_launches = 0, n_args = 0, n_extents = 0, n_constants = 0;
    constexpr emitted() : specs{}, code{}, launches{}, args{}, extents{}, constants{}, loops{}, buffers{} {}
};

template <class T>
constexpr void append(view<T>& to, view<const T> more) {
    T* const end = to.p + to.n;
    for (int i = 0; i < more.n; ++i) end[i] = more.p[i];
    to.n += more.n;
}

class emitter {
public:
    constexpr emitter(const graph_view& g, const grouping& r, const address* at, const plan_sizes& z, const bool* updated,
                      const update_code& u, const target& t, int max_batch, listing& o)
        : g_(g), n_(g.n.p), r_(r), at_(at), z_(z), updated_(updated), update_(u), t_(t),
          max_batch_(max_batch), o_(o), bucket_(256, -1),
          first_update_(r.g.n, -1), next_update_(g.gradients.n, -1), body_(g, r, at) {
        for (int i = g.gradients.n - 1; i >= 0; --i) {
            if (!updated[i]) continue;
            int& first = first_update_[r.of[base_of(g.n, g.gradients[i])]];
            next_update_[i] = first;
            first = i;
        }
    }

    constexpr void run() {
        for (int i = 0; i < r_.g.n; ++i) {
            if (r_.g[i].root < 0) continue;
            if (r_.g[i].loop != in_loop_) enter(r_.g[i].loop);
            one(i);
        }
        enter(0);
        copy_states();
        if (g_.gradients.n) update_rest();
    }

private:
    const graph_view& g_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    const grouping& r_;
    const address* at_;
    const plan_sizes& z_;
    const bool* updated_;
    const update_code& update_;
    const target& t_;
    int max_batch_;
    listing& o_;
    growing<int> bucket_, chain_;
    growing<int> first_update_, next_update_;   ///< the parameters that each group updates, as lists
    body_emitter body_;
    int in_loop_ = 0;

    constexpr void enter(int l) {
        if (in_loop_) o_.loops[o_.loops.n - 1].end = o_.launches.n;
        in_loop_ = l;
        if (!l) return;
        const loop& x = g_.loops[l - 1];
        const auto place = [&](int v) { return v < 0 ? address{} : at_[v]; };
        loop_launches out{o_.launches.n, 0, x.steps, x.backwards, place(x.count), place(x.condition), place(x.trips), o_.buffers.n};
        for (int c = 0; c < g_.carries.n && (x.count >= 0 || x.condition >= 0); ++c)
            if (g_.carries[c].loop == l && !g_.carries[c].sum && r_.live[g_.carries[c].next]) o_.buffers.push({at_[g_.carries[c].store], true});
        for (int v = 0; v < g_.n.n && (x.count >= 0 || x.condition >= 0); ++v)
            if (g_.n[v].loop == l && r_.of[v] >= 0 && at_[v].moves && g_.n[v].k != op::loop_next) o_.buffers.push({at_[v], false});
        out.buffers = o_.buffers.n - out.first_buffer;
        o_.loops.push(out);
    }
    constexpr void one(int group_number) {
        const group& q = r_.g[group_number];
        const node& n = n_[q.root];
        spec s;
        launch l;
        l.root = q.root;
        l.group = group_number;
        l.scope = n.scope;
        std::int64_t e[extent::count] = {};
        body_.begin(q);
        if (q.heavy) {
            s.kind = n.k;
            heavy(group_number, q, s, l, e);
        }
        if (!q.heavy || n.about->epilogue) {
            body_.members(q);
            for (int i = first_update_[group_number]; i >= 0; i = next_update_[i]) splice(i);
            body_.stores(q);
        }
        if (!q.heavy) {
            s.kind = body_.is_flat() ? walk::flat : walk::rows;
            const std::int64_t all = floats_of({.s = unbatched(q.space)}, t_, 1);
            l.m = body_.is_flat() ? all : q.space.rows();
            l.batched = q.space.batched;
        }
        finish(s, l, e, static_cast<std::int64_t>(q.space.size()));
    }
    static constexpr shape unbatched(shape s) {
        s.batched = false;
        s.type = dtype::f32;
        return s;
    }

    /// Extents and operands of a kernel of its own; the operands' order is each kernel's own page.
    constexpr void heavy(int group_number, const group& q, spec& s, launch& l, std::int64_t* e) {
        const node& n = n_[q.root];
        kernel_request request{n};
        for (int k = 0; k < n.operands; ++k) {
            request.operands[k] = n_ + n.in[k];
            body_.operand(n.in[k]);
        }
        if (q.pool >= 0) request.pool = n_ + q.pool;
        for (int i = first_update_[group_number]; i >= 0; i = next_update_[i])
            request.updates = request.updates || base_of(g_.n, g_.gradients[i]) == q.root;
        kernel_extents k{s.extents, e};
        n.about->extents(request, k);
        l.m = k.rows;
        l.batched = k.batched;
        if (k.second_result) body_.picked(q, r_);
        if (!n.about->epilogue) body_.result(q.root);
    }
    /// The update of parameter i behind its finished gradient.
    constexpr void splice(int i) {
        const int d = base_of(g_.n, g_.gradients[i]);
        body_.splice(d, update_, [&](int k) { return operand_of(i, k); });
    }
    constexpr address operand_of(int parameter, int k) const {
        return update_operand(at_[g_.parameters[parameter].id].offset(), k);
    }
    constexpr address update_operand(std::int64_t offset, int k) const {
        if (k == norm_operand) return {space::gradient, z_.parameters};   // behind the last gradient
        return k == 0 ? address{space::parameter, offset} : k == 1 ? address{space::gradient, offset}
                      : address{space::slot, (k - 2) * z_.parameters + offset};
    }

    /// States whose new value could not be put in place while their old one was still to be read.
    constexpr void copy_states() {
        for (const assignment& a : g_.assignments) {
            const int v = base_of(g_.n, a.value);
            if (r_.of[v] >= 0 && at_[v] == at_[a.target]) continue;
            spec s;
            launch l;
            std::int64_t e[extent::count] = {};
            group q;
            q.space = n_[a.target].s;
            body_.begin(q);
            body_.copy(v, at_[a.target]);
            l.root = v;
            l.m = q.space.size();
            finish(s, l, e, q.space.size());
        }
    }

    /// One walk for each stretch of neighbouring parameters that no kernel has updated yet. Parameters that the loss does
    /// not depend on have no gradient and stay as they are.
    constexpr void update_rest() {
        if (!update_.code.n) return;
        if (update_.needs_norm()) norm_of_gradients();
        for (int pass = 0; pass < 2; ++pass) {
            std::int64_t begin = -1, end = -1;
            for (int i = 0; i <= g_.parameters.n; ++i) {
                const bool last = i == g_.parameters.n;
                if (!last && (n_[g_.parameters[i].id].s.form == layout::weights) == (pass == 1)) continue;
                if (last || updated_[i] || g_.gradients[i] < 0) {
                    if (begin >= 0) update_stretch(begin, end);
                    begin = -1;
                } else {
                    const std::int64_t at = at_[g_.parameters[i].id].offset();
                    if (begin < 0) begin = at;
                    end = at + place_size(n_[g_.parameters[i].id], t_, 1);
                }
            }
        }
    }
    constexpr void norm_of_gradients() {
        spec s;
        launch l;
        std::int64_t e[extent::count] = {};
        group q;
        q.space = extents(static_cast<int>(z_.parameters / 16), 16);
        body_.begin(q);
        body_.sum_of_squares({space::gradient, 0}, {space::gradient, z_.parameters});
        s.kind = walk::rows;
        l.m = z_.parameters / 16;
        finish(s, l, e, z_.parameters);
    }
    constexpr void update_stretch(std::int64_t begin, std::int64_t end) {
        spec s;
        launch l;
        std::int64_t e[extent::count] = {};
        group q;
        q.space = extents(static_cast<int>(end - begin));
        body_.begin(q);
        body_.splice(-1, update_, [&](int k) { return update_operand(begin, k); });
        l.m = end - begin;
        finish(s, l, e, end - begin);
    }

    /// Each part costs something (one of a product gathers its operand anew): what takes a few microseconds is cut in two.
    constexpr int parts_of(const spec& s, const launch& l, const std::int64_t* e, std::int64_t work) const {
        if (s.kind == walk::flat || s.kind == walk::rows) return l.batched || work > 4096 ? t_.parts : 1;
        const bool product = s.kind == op::gemm || s.kind == op::gemm_tn;
        const std::int64_t rows = l.m * (l.batched ? max_batch_ : 1);
        return product && rows * e[0] * e[1] < 1 << 18 && t_.parts > 2 ? 2 : t_.parts;
    }
    constexpr void finish(spec& s, launch& l, std::int64_t* e, std::int64_t work) {
        e[extent::columns] = body_.columns();
        e[extent::buffer_stride] = round_up(body_.columns(), 16);
        for (int i = 0; i < body_.divisors(); ++i) e[extent::first_q + i] = body_.divisor(i);
        l.parts = parts_of(s, l, e, work);
        l.first_arg = o_.args.n;
        l.args = body_.args().n;
        append(o_.args, body_.args());
        l.first_extent = o_.extents.n;
        append(o_.extents, view<const std::int64_t>{e, extent::count});
        l.first_constant = o_.constants.n;
        append(o_.constants, body_.literals());
        const view<const word> words = body_.words();
        s.code = o_.code.n;
        s.words = words.n;
        if (s.words > most_words) throw "a kernel's body is too long: its words' numbers must fit into a byte";
        for (int i = 0; i < words.n; ++i) o_.code.p[s.code + i] = words.p[i].pack();
        o_.code.n += words.n;
        l.spec = intern(s);
        o_.launches.push(l);
    }

    /// The number of the equal spec that is there already, or of this one, now added.
    constexpr int intern(spec& s) {
        unsigned h = static_cast<unsigned>(s.kind);
        for (int i = 0; i < 12; ++i) h = (h ^ static_cast<unsigned>(s.extents[i])) * 16777619u;
        const std::uint64_t* const code = o_.code.p + s.code;
        for (int i = 0; i < s.words; ++i) h = (h ^ static_cast<unsigned>(code[i]) ^ static_cast<unsigned>(code[i] >> 32) * 31u) * 16777619u;
        s.hash = h;
        int& first = bucket_[static_cast<int>((h ^ h >> 13) & 255u)];
        for (int i = first; i >= 0; i = chain_[i])
            if (equal(o_.specs.p[i], s)) {
                o_.code.n = s.code;
                return i;
            }
        chain_.push(first);
        first = o_.specs.n;
        return o_.specs.push(s);
    }
    constexpr bool equal(const spec& a, const spec& b) const {
        if (a.hash != b.hash || a.kind != b.kind || a.words != b.words) return false;
        for (int i = 0; i < 12; ++i)
            if (a.extents[i] != b.extents[i]) return false;
        const std::uint64_t *const x = o_.code.p + a.code, *const y = o_.code.p + b.code;
        for (int i = 0; i < a.words; ++i)
            if (x[i] != y[i]) return false;
        return true;
    }
};

} // namespace sinter
