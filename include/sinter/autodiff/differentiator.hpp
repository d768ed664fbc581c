// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/autodiff/chain.hpp>
#include <sinter/autodiff/joined_parts.hpp>
#include <sinter/autodiff/joined_rows.hpp>
#include <sinter/ops/detail/loops.hpp>
#include <sinter/ops/internal/get_output.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/stop_gradient.hpp>

/// Reverse mode over the graph value: appends the nodes of the gradients.
/// compiler/passes/differentiate.hpp has those of the loss by the parameters made;
/// autodiff/gradient.hpp others while a net is traced.
namespace sinter::inline SINTER_TARGET::detail {

/// Which nodes a gradient must reach: those that a parameter (or whatever is in `wanted` already)
/// leads to.
constexpr void mark_wanted(const graph& g, int end, growing<bool>& wanted) {
    for (bool again = true; again;) {
        for (int i = 0; i < end; ++i) {
            const node& n = g.n.p[i];
            if (n.k == op::stop_gradient) continue;
            for (int k = 0; k < n.operands; ++k) wanted[i] = wanted[i] || wanted[n.in[k]];
        }
        again = false;
        for (int c = 0; c < g.carries.n; ++c)   // what an iteration hands on is what the next one begins with
            if (const loop_carry& l = g.carries[c]; l.next >= 0 && l.next < end && wanted[l.next] && !wanted[l.value])
                wanted[l.value] = again = true;
    }
}

/// Recomputation of a checkpointed block [first, last]: its nodes again, under an epoch of their
/// own so that they are not taken for the first ones. What the block read from outside is read
/// again; its results alone were kept.
constexpr void recompute(graph& g, int first, int last, int epoch, growing<int>& stand_in) {
    g.epoch = epoch;
    for (int i = first; i <= last; ++i) {
        node n = g.n.p[i];
        const op_kind kind = n.about->kind;
        if (kind == op_kind::leaf) continue;
        for (int k = 0; k < n.operands; ++k) n.in[k] = stand_in[n.in[k]];
        g.scope = n.scope;
        stand_in[i] = g.push(n);
    }
    g.epoch = 0;
}

/// What a block computed last was kept, so its gradient's rules read that: most often the last
/// layer need not be done again.
constexpr void read_kept_results(graph& g, int first_new, const growing<int>& stand_in) {
    growing<int> kept(g.n.n, -1);
    for (int r = 0; 2 * r < g.regions.n; ++r)
        if (const int last = g.regions[2 * r + 1]; last < stand_in.n && stand_in[last] != last)
            kept[stand_in[last]] = last;
    for (int i = first_new; i < g.n.n; ++i)
        for (int k = 0; k < g.n.p[i].operands; ++k)
            if (int& in = g.n.p[i].in[k]; kept[in] >= 0) in = kept[in];
}

} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

/// Appends the nodes of d sum(root) / d `of`. Within the body of a loop, root and `of` belong to
/// one iteration.
class differentiator {
public:
    constexpr differentiator(graph& g, int root, const growing<int>& of)
        : g_(g), root_(root), body_(g.open_loop),
          sums_(root + 1, -1), stand_in_(root + 1, -1), region_(root + 1, -1), wanted_(root + 1, false),
          again_(g.regions.n / 2, false), done_(g.loops.n, false), asked_(of) {
        for (int i = 0; i < of.n; ++i)
            if (of[i] <= root) wanted_.p[of[i]] = true;
        detail::mark_wanted(g, root + 1, wanted_);
        for (int i = 0; i <= root; ++i) stand_in_.p[i] = i;
        for (int r = 0; r < again_.n; ++r)
            for (int i = g.regions[2 * r]; i <= end_of(r); ++i)
                if (region_.p[i] < 0) region_.p[i] = r;
    }

    constexpr void run() {
        const int scope = g_.scope;
        const detail::chain_finder chains(g_, root_ + 1, wanted_, region_, asked_);
        if (wanted_.p[root_]) sums_.p[root_] = all_of(1, root_).id;
        for (int i = root_; i >= 0; --i) {
            if (const int l = g_.n.p[i].loop; l && l != body_) {
                if (!done_[l - 1]) through_loop(l, i);
                continue;
            }
            if (!reached(i)) continue;
            if (const int r = region_.p[i]; r >= 0 && !again_[r]) {
                again_[r] = true;
                detail::recompute(g_, g_.regions[2 * r], end_of(r), r + 1, stand_in_);
            }
            if (const detail::chain c = chains.to(i); c.from >= 0) through_chain(c);
            else through(i);
        }
        g_.scope = scope;
        if (again_.n) detail::read_kept_results(g_, root_ + 1, stand_in_);
    }
    constexpr int gradient(int of) const { return of <= root_ ? sums_.p[of] : -1; }   ///< its node, or -1: it is zero
    constexpr bool depends() const { return wanted_.p[root_]; }   ///< does root depend on any of `of`?

private:
    struct contribution {
        int to;
        tensor v;
    };
    graph& g_;
    int root_;
    int body_;                 ///< the loop within whose body this is asked for, or 0
    growing<int> sums_;        ///< node -> node of its gradient so far, or -1
    growing<int> stand_in_;    ///< node -> the node that rules read for it
    growing<int> region_;
    growing<bool> wanted_, again_, done_;
    const growing<int>& asked_;
    growing<int> further_;            ///< get_outputs whose gradient goes to the rule of what they show
    growing<contribution> outside_;   ///< what a loop's iterations leave to values from outside

    /// The last node of a checkpointed block that root can be made of: a block may stand behind it.
    constexpr int end_of(int r) const { return g_.regions[2 * r + 1] < root_ ? g_.regions[2 * r + 1] : root_; }
    constexpr bool reached(int i) const {
        if (!wanted_.p[i] || is_leaf(g_.n.p[i])) return false;
        return sums_.p[i] >= 0 || (g_.n.p[i].about->further_results && (further(i, 1) >= 0 || further(i, 2) >= 0));
    }
    /// The gradient of a further result of node i, or -1.
    constexpr int further(int i, int which) const {
        for (int k = 0; k < further_.n; ++k)
            if (g_.n.p[further_[k]].in[0] == i && g_.n.p[further_[k]].p[get_output_attribute::number] == which)
                return sums_.p[further_[k]];
        return -1;
    }
    constexpr void add(int to, tensor v) {
        const tensor before{&g_, sums_.p[to]};
        if (before.id < 0) {
            sums_.p[to] = v.id;
            return;
        }
        const tensor rows = detail::joined_rows(before, v);
        sums_.p[to] = rows.id >= 0 ? rows.id : detail::sum_of_parts(before, v).id;
    }

    static constexpr bool leads_on(const gradient_of& r) {   // not where it is itself what the gradient is asked for
        for (int k = 0; k < r.seen.operands; ++k)
            if (r.wanted[k]) return true;
        return false;
    }
    /// Lets node i's rule pass its gradient on. Within a loop, what belongs to values from outside
    /// is put aside.
    constexpr void through(int i) {
        const node original = g_.n.p[i];
        if (original.k == op::get_output && g_.n.p[original.in[0]].about->further_results) {
            further_.push(i);
            return;
        }
        g_.scope = original.scope;
        gradient_of r{&g_, original, {&g_, stand_in_.p[i]}, {&g_, sums_.p[i]}};
        if (original.about->further_results) r.further[0] = {&g_, further(i, 1)}, r.further[1] = {&g_, further(i, 2)};
        for (int k = 0; k < original.operands; ++k) {
            r.seen.in[k] = stand_in_.p[original.in[k]];
            r.wanted[k] = wanted_.p[original.in[k]];
        }
        if (leads_on(r)) original.about->gradient(r);
        for (int k = 0; k < original.operands; ++k) {
            if (!r.left[k].g) continue;
            if (g_.n.p[original.in[k]].loop == original.loop || (body_ && original.loop == body_))
                add(original.in[k], r.left[k]);
            else outside_.push({original.in[k], r.left[k]});
        }
    }

    /// d from = d result * the chain's derivative, which is made of forward values alone.
    constexpr void through_chain(const detail::chain& c) {
        const int result = c.inside[0], begin = g_.n.n, before = sums_.p[c.from];
        const tensor d{&g_, sums_.p[result]}, one = ops::broadcast_to(constant(&g_, 1.f), d.shape());
        sums_.p[c.from] = -1;
        sums_.p[result] = one.id;
        for (int k = 0; k < c.n; ++k) {
            if (reached(c.inside[k])) through(c.inside[k]);
            sums_.p[c.inside[k]] = -1;
        }
        detail::leave_out_factor(g_, begin, one.id);
        const int derivative = sums_.p[c.from];
        sums_.p[c.from] = before;
        if (derivative >= 0) add(c.from, d * tensor{&g_, derivative});
    }

    /// The gradient of loop l, whose last node is `last`: a loop the other way round, whose carries
    /// are the gradients of l's.
    constexpr void through_loop(int l, int last) {
        done_[l - 1] = true;
        growing<int> final(g_.carries.n, -1);   // carry -> gradient of what came out in the end
        bool any = false;
        growing<contribution> stacks;
        for (int r = 0; r <= root_; ++r) {
            const node n = g_.n.p[r];
            if (!reached(r) || !n.operands || g_.n.p[n.in[0]].loop != l) continue;
            any = true;
            if (n.k == op::loop_stack) stacks.push({n.in[0], ops::to_steps({&g_, sums_.p[r]})});
            for (int c = 0; n.k == op::loop_last && c < g_.carries.n; ++c)
                if (g_.carries[c].next == n.in[0]) final[c] = sums_.p[r];
        }
        if (!any) return;
        const loop forward = g_.loops[l - 1];
        const int iterations = forward.condition >= 0 ? forward.trips : forward.count;
        const int back = g_.loops.push({forward.steps, iterations, -1, -1, !forward.backwards}) + 1;
        const int carries = g_.carries.n;
        growing<int> of(carries, -1);
        for (int c = 0; c < carries; ++c) {
            const loop_carry f = g_.carries[c];
            if (f.loop != l || !wanted_.p[f.next]) continue;
            of[c] = detail::begin_carry(final[c] >= 0 ? tensor{&g_, final[c]} : zeros_like(f.value), back);
            add(f.next, detail::value_of(g_, of[c]));
        }
        g_.open_loop = back;
        for (int i = 0; i < stacks.n; ++i) add(stacks[i].to, detail::slice_of_iteration(stacks[i].v, back));
        stand_in_for_iterations(l, back, last);
        growing<contribution> inputs;
        for (int i = last; i >= 0; --i) {
            if (g_.n.p[i].loop != l || !reached(i) || g_.n.p[i].k == op::loop_value) continue;
            if (g_.n.p[i].k == op::loop_input) inputs.push({g_.n.p[i].in[0], {&g_, sums_.p[i]}});
            else through(i);
        }
        for (int c = 0; c < carries; ++c) {
            if (of[c] < 0) continue;
            const loop_carry f = g_.carries[c];
            const int d = sums_.p[f.value];
            const tensor first = detail::end_carry(d >= 0 ? tensor{&g_, d} : zeros_like(f.value), of[c]);
            if (wanted_.p[f.store]) inputs.push({f.store, first});
        }
        sum_by_iterations(outside_, inputs, back);
        for (growing<contribution>* left : {&inputs, &outside_})
            for (int i = 0; g_.loops[back - 1].count >= 0 && i < left->n; ++i)
                if ((*left)[i].to >= 0) (*left)[i].v = reading_copies((*left)[i].v, back);
        g_.open_loop = 0;
        for (int i = 0; i < inputs.n; ++i)
            if (const tensor v = inputs[i].v; wanted_.p[inputs[i].to])
                add(inputs[i].to, v.at().loop ? detail::stack_of_iterations(v, back) : v);
        for (int i = 0; i < outside_.n; ++i)
            if (outside_[i].to >= 0) add(outside_[i].to, sum_over_iterations(outside_[i].v, back));
        outside_.n = 0;
    }
    /// A tensor of one number, with a node's extents: a copy of them, since the constant may move
    /// the nodes.
    constexpr tensor all_of(float x, int node) {
        return ops::broadcast_to(constant(&g_, x), tensor{&g_, node}.shape());
    }
    constexpr tensor zeros_like(int node) { return all_of(0, node); }

    /// What the gradient's iterations read for the nodes of loop l: what was kept of the same
    /// iteration, or its computation again.
    constexpr void stand_in_for_iterations(int l, int back, int last) {
        const bool again = g_.loops[l - 1].recompute;
        for (int i = 0; i <= last; ++i) {
            node n = g_.n.p[i];
            if (n.loop != l) continue;
            if (n.k == op::loop_input) {
                stand_in_.p[i] = detail::slice_of_iteration({&g_, n.in[0]}, back).id;
            } else if (n.k == op::loop_value || !again) {
                stand_in_.p[i] = detail::saved_value({&g_, i}, back).id;
            } else {
                for (int k = 0; k < n.operands; ++k) n.in[k] = stand_in_.p[n.in[k]];
                n.loop = -1;
                g_.scope = n.scope;
                stand_in_.p[i] = g_.push(n);
            }
        }
    }

    /// Sums over the batch are made once, over all iterations together, after the loop.
    constexpr bool waits_for_the_end(tensor v, int back) const {
        const node& n = v.at();
        if (n.loop != back) return false;
        if (n.k == op::reshape) return waits_for_the_end({&g_, n.in[0]}, back);
        if (!is(n, op_role::column_sum) && !is(n, op_role::weights_gradient) && !is(n, op_role::scatter_rows))
            return false;
        for (int k = 0; k < n.operands; ++k)
            if (g_.n.p[n.in[k]].loop != back) return false;
        return true;
    }
    /// A carry's memory holds something where iterations are not made, too: what would read it
    /// reads a copy, which holds zeros there.
    constexpr tensor reading_copies(tensor v, int back) {
        node n = v.at();
        if (n.k == op::loop_value && n.loop == back) return {&g_, g_.push(detail::copy_in_loop(v, back))};
        if (n.k == op::reshape) return ops::reshape(reading_copies({&g_, n.in[0]}, back), n.s);
        if (!is(n, op_role::column_sum) && !is(n, op_role::weights_gradient) && !is(n, op_role::scatter_rows)) return v;
        for (int k = 0; k < n.operands; ++k) n.in[k] = reading_copies({&g_, n.in[k]}, back).id;
        return {&g_, g_.push(n)};
    }
    constexpr tensor sum_over_iterations(tensor v, int back) {
        node n = v.at();
        if (n.k == op::reshape) return ops::reshape(sum_over_iterations({&g_, n.in[0]}, back), n.s);
        for (int k = 0; k < n.operands; ++k) n.in[k] = detail::stack_of_iterations({&g_, n.in[k]}, back).id;
        n.loop = 0;
        return {&g_, g_.push(n)};
    }
    /// All others are added up in a place of their own, iteration by iteration; they leave `left`
    /// for `results`.
    constexpr void sum_by_iterations(growing<contribution>& left, growing<contribution>& results, int back) {
        for (int i = 0; i < left.n; ++i) {
            if (left[i].to < 0 || waits_for_the_end(left[i].v, back)) continue;
            const int to = left[i].to;
            tensor iteration = left[i].v;
            for (int j = i + 1; j < left.n; ++j)
                if (left[j].to == to && !waits_for_the_end(left[j].v, back))
                    iteration = iteration + left[j].v, left[j].to = -1;
            left[i].to = -1;
            const int carry = detail::begin_carry(zeros_like(to), back, true);
            results.push({to, detail::end_carry(detail::value_of(g_, carry) + iteration, carry)});
        }
    }
};

} // namespace sinter::compiler
