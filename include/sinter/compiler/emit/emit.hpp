// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/emit_update.hpp>
#include <sinter/compiler/passes/boundary_iterations.hpp>

/// Emission: each group becomes a launch, and its kernel a spec shared by all equal ones.
namespace sinter::inline SINTER_TARGET::compiler {

template <int Groups, int Code, int Args, int Constants, int Loops, int Buffers>
struct emitted {
    spec specs[std::size_t{Groups}];
    std::uint64_t code[std::size_t{Code}];
    launch launches[std::size_t{Groups}];
    address args[std::size_t{Args}];
    std::int64_t extents[std::size_t{Groups * extent::count}];
    float constants[std::size_t{Constants}];
    loop_launches loops[std::size_t{Loops}];
    loop_buffer buffers[std::size_t{Buffers}];
    int n_loops = 0, n_buffers = 0;
    int n_specs = 0, n_code = 0, n_launches = 0, n_args = 0, n_extents = 0, n_constants = 0;
    int first_update = 0, first_sweep = 0;   ///< see program_segments
    constexpr emitted() : specs{}, code{}, launches{}, args{}, extents{}, constants{}, loops{}, buffers{} {}
};

class emitter {
public:
    constexpr emitter(const graph_view& g, const grouping& r, const address* at, const plan_sizes& z,
                      const bool* updated, const update_set& u, const target& t, int max_batch, listing& o,
                      winograd most = winograd::forbid, const gradient_layout& l = {})
        : g_(g), n_(g.n.p), r_(r), at_(at), t_(t), o_(o), first_update_(r.g.n, -1), next_update_(g.gradients.n, -1),
          write_(g, r, at, t, max_batch, o), body_(write_.body), update_(g, at, z, updated, u, t, write_, l),
          layout_(l), winograd_{t.winograd ? most : winograd::forbid, t.lanes, t.parts, max_batch},
          max_batch_(max_batch), one_example_(max_batch == 1 && t.parts == 1 && t.lanes > 1), pooled_(g.n.n, false),
          idle_(g, r) {
        mark_pooled();
        for (int i = g.gradients.n - 1; i >= 0; --i) {
            if (!updated[i]) continue;
            int& first = first_update_[r.of[base_of(g.n, g.gradients[i])]];
            next_update_[i] = first;
            first = i;
        }
    }

    constexpr void run() {
        const bool gathers = update_.accumulates() && layout_.in_buckets();
        bool loss_known = false;
        for (int i = 0; i < r_.g.n; ++i) {
            if (r_.g[i].root < 0) continue;
            if (r_.g[i].loop != in_loop_) enter(r_.g[i].loop);
            one(i);
            if (!gathers) continue;
            loss_known = loss_known || o_.launches[o_.launches.n - 1].loss;
            if (loss_known && !r_.g[i].loop && !r_.g[i].is_producer) gather_behind(i);
        }
        enter(0);
        copy_states();
        if (g_.gradients.n && update_.accumulates()) update_.gather();
        o_.first_update = o_.launches.n;
        if (g_.gradients.n) update_.norm_of_gradients();
        o_.first_sweep = o_.launches.n;
        if (g_.gradients.n) update_.update();
    }

private:
    const graph_view& g_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    const grouping& r_;
    const address* at_;
    const target& t_;
    listing& o_;
    growing<int> first_update_, next_update_;   ///< the parameters that each group updates, as lists
    launch_writer write_;
    body_emitter& body_;
    update_emitter update_;
    gradient_layout layout_;
    winograd_choice winograd_;
    int max_batch_;
    bool one_example_;
    growing<bool> pooled_;   ///< the convolutions whose values a max-pool compares
    boundary_iterations idle_;
    int in_loop_ = 0;

    /// Rows of one example that a gemm_tn's left operand begins (or, negative, ends) with and that
    /// are zero.
    constexpr std::int64_t zero_rows(const node& n) const {
        const shape &left = n_[n.in[0]].s, &right = n_[n.in[1]].s;
        if (left.form != layout::steps || right.form != layout::steps || left.rows() != right.rows()) return 0;
        return idle_.zero_slice(n.in[0]) * (left.rows() / left.d[0]);
    }
    /// Does a product's thread find what it reads, and leave what others will, with itself if it
    /// has some rows of all columns? What comes before and after a product goes row by row, while
    /// weights stay with the thread that updates them: columns are better where these are larger
    /// than the rows, and in a loop's iterations, which have few. What goes into a loop shall lie
    /// as these have it.
    constexpr bool shares_rows(const kernel_extents& k) const {
        return g_.loops.n == 0 && k.rows * (k.batched ? max_batch_ : 1) >= k.e[gemm_extent::columns];
    }
    constexpr void mark_pooled() {
        if (winograd_.most != winograd::f4) return;
        for (const node& n : g_.n) {
            if (!is(n, op_role::max_pool)) continue;
            int v = n.in[0];
            while (n_[v].operands && (is_view(n_[v]) || n_[v].about->kind == op_kind::elementwise)) v = n_[v].in[0];
            pooled_[v] = true;
        }
    }

    /// Of steps that are accumulated, gradients which others wait for: gathered as soon as this
    /// group has made them.
    constexpr void gather_behind(int group_number) {
        for (int v : g_.gradients)
            if (v >= 0 && r_.of[base_of(g_.n, v)] == group_number)
                return update_.gather(r_.of, group_number);
    }
    /// Ends the loop that launches are being made for, and begins the next (0: none). Where fewer
    /// iterations may be made than there is room for, the device is told what to put right.
    constexpr void enter(int l) {
        if (in_loop_) o_.loops[o_.loops.n - 1].end = o_.launches.n;
        in_loop_ = l;
        if (!l) return;
        const loop& x = g_.loops[l - 1];
        const auto place = [&](int v) { return v < 0 ? address{} : at_[v]; };
        loop_launches out{o_.launches.n,  0,           x.steps, x.backwards, place(x.count), place(x.condition),
                          place(x.trips), o_.buffers.n};
        const bool may_be_fewer = x.count >= 0 || x.condition >= 0;
        for (int c = 0; may_be_fewer && c < g_.carries.n; ++c)
            if (g_.carries[c].loop == l && !g_.carries[c].sum && r_.live[g_.carries[c].next])
                o_.buffers.push({at_[g_.carries[c].store], true});
        for (int v = 0; may_be_fewer && v < g_.n.n; ++v)
            if (g_.n[v].loop == l && r_.of[v] >= 0 && at_[v].moves && !is_carry(v)) o_.buffers.push({at_[v], false});
        out.buffers = o_.buffers.n - out.first_buffer;
        o_.loops.push(out);
    }
    constexpr bool is_carry(int v) const {   // what is handed on; copies for others are loop_next as well
        bool found = false;
        for (int c = 0; c < g_.carries.n; ++c) found = found || g_.carries[c].next == v;
        return found;
    }
    constexpr void one(int group_number) {
        const group& q = r_.g[group_number];
        const node& n = n_[q.root];
        spec s;
        launch l;
        l.root = q.root;
        l.group = group_number;
        l.scope = n.scope;
        l.is_producer = q.is_producer;
        l.skips_last = idle_.skipped_in_last_iteration(q);
        l.loss = g_.loss >= 0 && r_.of[base_of(g_.n, g_.loss)] == group_number;
        l.updates = first_update_[group_number] >= 0;
        std::int64_t* const e = write_.extents();
        body_.begin(q);
        if (q.root_op) {
            s.kind = n.k;
            l.role = n.about->role;
            root_op(group_number, q, s, l, e);
        }
        if (!q.root_op || n.about->epilogue) {
            body_.members(q);
            for (int i = first_update_[group_number]; i >= 0; i = next_update_[i]) update_.splice(i);
            body_.stores(q);
        }
        if (!q.root_op) {
            s.kind = body_.is_flat() ? walk::flat : walk::rows;
            if (!body_.is_flat() && q.space.last() <= narrow_columns) s.extents[0] = q.space.last();
            const std::int64_t all = floats_of(unbatched(q.space), t_, 1);
            l.m = body_.is_flat() ? all : q.space.rows();
            l.batched = q.space.batched;
        }
        write_.finish(s, l, static_cast<std::int64_t>(q.space.size()));
    }
    static constexpr shape unbatched(shape s) {
        s.batched = false;
        s.type = dtype::f32;
        return s;
    }

    /// Extents and operands of a kernel of its own; the operands' order is each kernel's own page.
    constexpr void root_op(int group_number, const group& q, spec& s, launch& l, std::int64_t* e) {
        const node& n = n_[q.root];
        kernel_request request{n};
        for (int k = 0; k < n.operands; ++k) {
            request.operands[k] = n_ + n.in[k];
            body_.operand(n.in[k]);
        }
        if (q.pool >= 0) request.pool = n_ + q.pool;
        for (int i = first_update_[group_number]; i >= 0; i = next_update_[i])
            request.updates = request.updates || base_of(g_.n, g_.gradients[i]) == q.root;
        if (const int i = list_made_by(q.root); i >= 0) {
            request.list_rows = layout_.rows(i);
            body_.operand(update_.keys(i));
        }
        request.winograd = winograd_;
        if (pooled_[q.root]) request.winograd.limit_before_pool(n_[n.in[0]].s);
        request.one_example = one_example_;
        kernel_extents k{s.extents, e};
        n.about->extents(request, k);
        if (is(n, op_role::product)) {
            e[gemm_extent::begins_with_zeros] = idle_.begins_with_zeros(n.in[0], q.loop);
            e[gemm_extent::by_rows] = shares_rows(k);
        }
        if (is(n, op_role::weights_gradient) && !k.second_result) e[gemm_tn_extent::zero_rows] = zero_rows(n);
        l.m = k.rows;
        l.batched = k.batched;
        if (k.second_result) body_.further_result(q, r_, 1);
        if (k.third_result) body_.further_result(q, r_, 2);
        if (!n.about->epilogue) body_.result(q.root);
    }
    /// The parameter whose gradient this node makes as a list of rows, or -1.
    constexpr int list_made_by(int root) const {
        for (int i = 0; layout_.list_rows && i < g_.gradients.n; ++i)
            if (layout_.rows(i) && base_of(g_.n, g_.gradients[i]) == root) return i;
        return -1;
    }
    /// States whose new value could not be put in place while their old one was still to be read.
    constexpr void copy_states() {
        for (const assignment& a : g_.assignments) {
            const int v = base_of(g_.n, a.value);
            if (r_.of[v] >= 0 && at_[v] == at_[a.target]) continue;
            spec s;
            launch l;
            group q;
            q.space = n_[a.target].s;
            body_.begin(q);
            body_.copy(v, at_[a.target]);
            l.root = v;
            l.m = q.space.size();
            l.updates = true;
            write_.finish(s, l, q.space.size());
        }
    }
};

} // namespace sinter::compiler
