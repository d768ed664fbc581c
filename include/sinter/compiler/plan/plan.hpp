// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/fuse.hpp>
#include <sinter/compiler/passes/lazy_rows.hpp>
#include <sinter/compiler/passes/loop_order.hpp>
#include <sinter/compiler/plan/gradient_layout.hpp>
#include <sinter/compiler/target.hpp>

/// The memory plan: where every stored node lies. Activations share one arena by lifetime;
/// parameters, gradients and states lie in arenas of their own whose layout depends on the forward
/// trace alone, so that training, evaluation and prediction agree on it.
namespace sinter::inline SINTER_TARGET::compiler {

/// Floats that a value of these extents takes, for `examples` examples.
constexpr std::int64_t floats_of(const shape& s, const target& t, std::int64_t examples) {
    std::int64_t size = s.form == layout::weights ? std::int64_t{s.rows()} * round_up(s.last(), t.lanes) : s.size();
    if (s.batched) size *= examples;
    return s.type == dtype::u8 ? (size + 3) / 4 : size;
}
/// The same of a node: a convolution's transposed weights have another layout than others.
constexpr std::int64_t floats_of(const node& n, const target& t, std::int64_t examples) {
    const shape& s = n.s;
    if (!is(n, op_role::convolution_weights_transpose)) return floats_of(s, t, examples);
    const int inputs = s.d[s.rank < 2 ? 0 : s.rank - 2];   // never less; g++ warns of ranks that it takes for possible
    return std::int64_t{s.rows() / inputs} * s.last() * round_up(inputs, t.lanes) * (s.batched ? examples : 1);
}
/// The same with what is left of a line of 64 bytes: places begin with one.
constexpr std::int64_t place_size(const node& n, const target& t, std::int64_t examples) {
    return round_up(floats_of(n, t, examples), 16);
}

/// Floats of the arenas.
struct plan_sizes {
    std::int64_t activations = 0, alive = 0, unshared = 0;   ///< alive: the most at one time
    std::int64_t parameters = 0, trained = 0, first_plain = 0,
                 states = 0;            ///< trained: of the parameters, those that are
    std::int64_t whole_gradients = 0;   ///< of the gradients: what is not a list of rows
    std::int64_t summed_gradients = 0;  ///< and the rows of lists: all that a norm is taken of
    std::int64_t gradients = 0;         ///< and the keys of lists
};
/// A plan: the N nodes' addresses.
template <int N>
struct placed {
    address at[std::size_t{N}];
    plan_sizes z;
    std::int64_t live[std::size_t{N}];   ///< floats of activations alive while group i runs
    constexpr placed() : at{}, z{}, live{} {}
};

/// Parameters that are trained come first, so that gradients and slots have places for them alone.
/// Among them those in packed layout (their updates ride on their gradients' kernels), then all
/// others, so that one walk over a single stretch of memory updates those; or, in buckets, all in
/// backward's order.
constexpr void place_variables(const graph_view& g, const target& t, int max_batch, const gradient_layout& l,
                               address* at, plan_sizes& z) {
    const auto place = [&](const variable& p) {
        at[p.id] = {space::parameter, z.parameters};
        z.parameters += place_size(g.n[p.id], t, 1);
    };
    for_each_trained(g, l, [&](int i) {
        place(g.parameters[i]);
        if (g.n[g.parameters[i].id].s.form == layout::weights) z.first_plain = z.parameters;
    });
    z.trained = z.parameters;
    for (const bool packed : {true, false})
        for (const variable& p : g.parameters)
            if (p.group < 0 && (g.n[p.id].s.form == layout::weights) == packed) place(p);
    for (const variable& s : g.states) {
        at[s.id] = {space::state, z.states};
        z.states += place_size(g.n[s.id], t, max_batch);
    }
}

/// visit(node, place) for each table, place in floats; gives the floats of all. Tables lie in
/// memory of the program's own.
template <class F>
constexpr std::int64_t each_table(view<const node> n, F visit) {
    std::int64_t floats = 0;
    for (const node& x : n) {
        if (x.k != op::table) continue;
        visit(static_cast<int>(&x - n.p), floats);
        floats += round_up(x.s.size(), 16);
    }
    return floats;
}

class planner {
public:
    constexpr planner(const graph_view& g, const grouping& r, const bool* updated, const target& t, int max_batch,
                      const gradient_layout& l = {})
        : g_(g), n_(g.n.p), r_(r), updated_(updated), t_(t), max_batch_(max_batch), layout_(l),
          base_(find_bases(g.n, bases_)), pinned_(g.n.n), last_(g.n.n, -1), slots_(g.n.n), over_(g.n.n, -1) {
        find_spans(g, r, span_);
        find_slots();
    }

    /// `updated[i]`: parameter i is updated within the kernel of its gradient, which is then not
    /// stored. `backwards`: places activations from the last group to the first. Holes fall
    /// otherwise then, and neither way is always the better one: README's net at batch 256 needs
    /// 18.5 MB so and 26.9 the other way, ResNet-50 one percent more.
    template <int N>
    constexpr void run(placed<N>& out, bool backwards = false) {
        place_variables(g_, t_, max_batch_, layout_, out.at, out.z);
        for (int v = 0; v < g_.n.n; ++v)
            if (n_[v].k == op::input) out.at[v] = port_address(n_[v].p[input_attribute::port]);
        each_table(g_.n, [&](int v, std::int64_t at) { out.at[v] = {space::table, at}; });
        pin_gradients(out.at, out.z);
        pin_carries();
        find_last_uses();
        pin_states(out.at);
        write_over();
        place_activations(out, backwards);
        if (g_.loops.n) place_iterations(out.at);
        place_views(out.at);
    }

private:
    const graph_view& g_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    const grouping& r_;
    const bool* updated_;
    const target& t_;
    int max_batch_;
    gradient_layout layout_;
    growing<int> bases_;
    const int* const base_;   ///< the node whose memory each shows
    growing<bool> pinned_;
    growing<int> last_;   ///< the last group that reads a node
    /// Slices that a node's memory has, one for each iteration, if others than its own loop read
    /// it; else 0.
    growing<int> slots_;
    growing<int> over_;   ///< the node in whose memory a node lies that is written over what it was made of; else -1
    growing<loop_span> span_;

    /// What is read from outside of its loop, iteration by iteration or all together, is kept of
    /// each iteration; carries have their first value besides.
    constexpr void find_slots() {
        for (int v = 0; g_.loops.n && v < g_.n.n; ++v) {
            const node& n = n_[v];
            if (!r_.live[v] || !is_view(n)) continue;
            const int from = base_[n.in[0]], l = n_[from].loop;
            if (l && l != n.loop && r_.of[from] >= 0) slots_.p[from] = g_.loops[l - 1].steps;
        }
        for (const loop_carry& c : g_.carries) {
            slots_.p[c.store] = c.sum ? 0 : g_.loops[c.loop - 1].steps + 1;
            slots_.p[c.next] = 0;
        }
    }
    constexpr void pin_carries() {
        for (const loop_carry& c : g_.carries) pinned_.p[c.next] = true;
    }
    constexpr address iterations_of(address a, int v, int slot, bool moves) const {
        const node& n = n_[v];
        a.slice = static_cast<std::int32_t>(floats_of(n, t_, 1));
        a.batched = n.s.batched;
        a.slot = slices(a, slot);
        a.moves = moves;
        return a;
    }
    /// So many slices of `a` in the unit of its slot.
    static constexpr std::int32_t slices(address a, int n) {
        const std::int64_t all = std::int64_t{n} * (a.batched ? 1 : a.slice);
        if (all > std::int64_t{0x7fffffff}) throw "a loop's values are too many floats";
        return static_cast<std::int32_t>(all);
    }
    constexpr void place_iterations(address* at) const {
        for (int v = 0; v < g_.n.n; ++v)
            if (n_[v].loop && slots_.p[v] && has_buffer(v)) at[v] = iterations_of(at[v], v, 0, true);
        for (const loop_carry& c : g_.carries) {
            if (!r_.live[c.next]) continue;
            const bool back = g_.loops[c.loop - 1].backwards;
            const address store = at[c.store];
            if (!c.sum) {
                at[c.store] = iterations_of(store, c.store, back ? g_.loops[c.loop - 1].steps : 0, false);
                at[c.next] = iterations_of(store, c.store, back ? 0 : 1, true);
            } else {
                at[c.next] = store;
            }
        }
    }
    constexpr void place_views(address* at) const {
        for (int v = 0; v < g_.n.n; ++v) {
            const node& n = n_[v];
            if (!is_view(n)) continue;
            address a = at[n.in[0]];
            if (n.k == op::loop_input) {
                const std::int32_t first = a.slot;   // in slices of the same examples, or in floats
                a = iterations_of(a, v, 0, true);
                a.slot = first;
            } else if (n.k == op::loop_value) {
                const loop_carry& c = g_.carries[n_[n.in[0]].p[carry_attribute::number] - 1];
                if (!c.sum) a = iterations_of(a, n.in[0], g_.loops[c.loop - 1].backwards ? 1 : 0, true);
            } else if (n.k == op::loop_stack) {
                a.moves = false;
            } else if (n.k == op::loop_last && a.moves) {
                const loop& l = g_.loops[n_[n.in[0]].loop - 1];
                a.moves = false;
                if (!l.backwards) a.slot += slices(a, l.steps - 1);
            }
            at[v] = a;
        }
    }

    /// Those that are stored, close together in the order of their parameters, so that neighbours
    /// stay neighbours; in buckets lists of rows behind.
    constexpr void pin_gradients(address* at, plan_sizes& z) {
        for (int v : g_.gradients)
            if (v >= 0) pinned_.p[base_[v]] = true;
        std::int64_t end = 0;
        const auto place = [&](bool lists) {
            if (!g_.gradients.n) return end;
            for_each_trained(g_, layout_, [&](int i) {
                if (g_.gradients[i] < 0 || updated_[i] || (layout_.rows(i) > 0) != lists) return;
                const node& d = n_[base_[g_.gradients[i]]];
                at[base_[g_.gradients[i]]] = {space::gradient, end};
                end += lists ? floats_of_rows(layout_.rows(i), d.s) : place_size(n_[g_.parameters[i].id], t_, 1);
            });
            return end;
        };
        z.whole_gradients = z.summed_gradients = place(false);
        if (layout_.in_buckets()) z.summed_gradients = place(true);
        for (int i = 0; i < g_.gradients.n; ++i)
            if (layout_.rows(i)) end += floats_of_keys(layout_.rows(i));
        z.gradients = end;
    }
    constexpr void find_last_uses() {
        const int end = r_.g.n;
        auto use = [&](int v, int group) {
            if (v >= 0 && last_.p[base_[v]] < group) last_.p[base_[v]] = group;
        };
        growing<int> last_float(g_.n.n, -1);   // what nodes that are computed again read, their users' users read
        for (int v = g_.n.n - 1; v >= 0; --v) {
            if (!r_.live[v] || n_[v].about->kind == op_kind::view) continue;
            const bool again = r_.of[v] < 0 || !r_.stored[v];
            const int group = again && last_float.p[v] > r_.of[v] ? last_float.p[v] : runs_until(r_, r_.of[v]);
            for (int k = 0; k < n_[v].operands; ++k) {
                const int u = base_[n_[v].in[k]];
                const int by = r_.of[v] >= 0 && g_.loops.n ? until(u, group) : group;
                if (last_.p[u] < by) last_.p[u] = by;
                if (last_float.p[u] < group) last_float.p[u] = group;
            }
        }
        for (int i = 0; i < g_.gradients.n; ++i)   // a table's update in a sweep
            if (!updated_[i] && !layout_.rows(i)) use(indices_of_gradient(g_, i), end);
        use(g_.loss, end);
        use(g_.loss_weight, end);
        for (int v : g_.outputs) use(v, end);
        for (const assignment& a : g_.assignments) use(a.value, end);
        for (int l = 1; l <= g_.loops.n; ++l) {
            const loop& x = g_.loops[l - 1];
            use(x.count, span_[l].last);
            use(x.condition, span_[l].last);
            use(x.trips, span_[l].last);
        }
        for (const loop_carry& c : g_.carries) {   // whoever reads what comes out reads the carry's memory
            use(c.store, span_[c.loop].last);
            use(c.store, last_.p[c.next]);
        }
    }
    /// What a loop reads from outside must be there for all its iterations.
    constexpr int until(int v, int reader) const {
        const int l = reader >= 0 ? r_.g[reader].loop : 0;
        return l && n_[v].loop != l ? span_[l].last : reader;
    }
    /// A state's new value goes straight to its place if nobody reads the old one after that (write
    /// after read); otherwise the emitter copies it at the end of the step.
    constexpr void pin_states(address* at) {
        for (const assignment& a : g_.assignments) {
            const int v = base_[a.value], last = last_.p[a.target];
            if (r_.of[v] < 0 || pinned_.p[v] || last > r_.of[v] || (last == r_.of[v] && !in_place(r_.g[last], v)))
                continue;
            pinned_.p[v] = true;
            at[v] = at[a.target];
        }
    }
    /// Does the group read each element before it writes that element, and never again? A kernel of
    /// its own may read its operands in any order, a walk that reduces rows passes over a row more
    /// than once, and one value for many elements is worked out again by each part. Columns' sums
    /// are made on the way. `behind`: of a kernel of its own, what is behind its result.
    constexpr bool in_place(const group& q, int value, bool behind = false) const {
        return (!q.root_op || behind) && same_space(n_[value].s, q.space) && makes_one_pass(q, behind);
    }
    constexpr bool makes_one_pass(const group& q, bool behind) const {
        for (int v = q.head; v >= 0; v = r_.next[v])
            if (const op_kind k = n_[v].about->kind;
                k != op_kind::elementwise && k != op_kind::col_reduce && !(behind && v == q.root))
                return false;
        return true;
    }
    /// What a kernel reads for the last time, element by element, makes room for what it writes:
    /// the memory is in the cache already. So a gradient lies where its factor was kept, a sum
    /// where its first part was; of what a loop keeps of each iteration an LSTM's gates over the
    /// products that they are made of, and most gates' gradients over the gates.
    constexpr void write_over() {
        const int unknown = r_.g.n;   // a reader that is no group
        growing<int> reader(g_.loops.n ? g_.n.n : 0, -1);   // the last one of each node; without loops last_ is as much
        growing<bool> lends(g_.n.n);
        for (int v = 0; g_.loops.n && v < g_.n.n; ++v)
            for (int k = 0; k < n_[v].operands && r_.live[v] && !is_view(n_[v]); ++k) {
                int& last = reader.p[base_[n_[v].in[k]]];
                const int group = r_.of[v] < 0 ? unknown : r_.of[v];
                if (last < group) last = group;
            }
        for (int i = 0; i < r_.g.n; ++i) {
            const group& q = r_.g[i];
            if (q.root < 0 || (q.root_op && !hands_on_once(q)) || !makes_one_pass(q, q.root_op)) continue;
            for (int v = q.head; v >= 0; v = r_.next[v]) {
                if (!has_buffer(v) || (slots_.p[v] > 0) != (q.loop > 0) || !same_space(n_[v].s, q.space)) continue;
                for (int w = q.head; w >= 0 && over_.p[v] < 0; w = r_.next[w])
                    for (int k = 0; k < n_[w].operands && over_.p[v] < 0; ++k) {
                        const int u = base_[n_[w].in[k]];
                        if (lends.p[u] || !has_buffer(u) || !is_free_after(q, i, u) || (g_.loops.n && reader.p[u] != i))
                            continue;
                        if (size_of(u) != size_of(v) || !reads_elementwise(q, u)) continue;
                        over_.p[v] = over_.p[u] < 0 ? u : over_.p[u];
                        lends.p[u] = true;   // its memory, once
                        if (int& last = last_.p[over_.p[v]]; last < last_.p[v]) last = last_.p[v];
                    }
            }
        }
    }
    /// Does a kernel of its own hand each of its results to what is behind it once, and store
    /// nothing itself? A pool in a convolution's kernel leaves winners, too.
    constexpr bool hands_on_once(const group& q) const { return n_[q.root].about->epilogue && q.pool < 0; }
    /// Does nobody want u's memory when group i is done? An iteration's slice of what another loop
    /// kept, or a value of no loop.
    constexpr bool is_free_after(const group& q, int i, int u) const {
        if (q.loop) return n_[u].loop != q.loop && last_.p[u] <= span_[q.loop].last;
        return !n_[u].loop && !slots_.p[u] && last_.p[u] == runs_until(r_, i) && !(q.is_producer && reads(i + 1, u));
    }
    constexpr bool reads(int group, int u) const {
        return sinter::compiler::reads(n_, base_, r_, group, u, [&](int b) { return computed_again(r_, b, group); });
    }
    /// Does the group read each element of u where it stands, in a loop only this iteration's
    /// slice?
    constexpr bool reads_elementwise(const group& q, int u) const {
        for (int v = q.head; v >= 0; v = r_.next[v])
            for (int k = 0; k < n_[v].operands; ++k) {
                const int in = n_[v].in[k];
                if (base_[in] != u) continue;
                if (n_[v].about->kind == op_kind::root_op || !same_space(n_[in].s, q.space)) return false;
                if (q.loop ? (n_[in].k != op::loop_input && n_[in].k != op::loop_saved) || n_[in].in[0] != u
                           : !same_space(n_[u].s, q.space)) return false;
            }
        return true;
    }
    constexpr bool has_buffer(int v) const { return r_.stored[v] && !pinned_.p[v]; }
    constexpr std::int64_t size_of(int v) const {
        return !slots_.p[v] ? place_size(n_[v], t_, max_batch_)
                          : round_up(slots_.p[v] * floats_of(n_[v], t_, 1) * (n_[v].s.batched ? max_batch_ : 1), 16);
    }
    /// The group from which on a node's memory is in use: what is kept of all iterations, from the
    /// loop's first.
    constexpr int begins(int v, int group) const {
        return n_[v].loop && slots_.p[v] ? span_[n_[v].loop].first : group;
    }

    template <int N>
    constexpr void place_activations(placed<N>& out, bool backwards) {
        const int groups = r_.g.n;
        growing<int> ending(groups + 1, -1), chain(g_.n.n, -1);   // buffers by the last group that reads them
        growing<int> beginning(groups + 1, -1), next(g_.n.n, -1);   // and by the first that writes them
        growing<std::int64_t> change(groups + 2, 0);
        for (int i = groups - 1; i >= 0; --i) {
            if (r_.g[i].root < 0) continue;
            int tail = -1;
            for (int v = r_.g[i].head; v >= 0; v = r_.next[v]) {
                if (!has_buffer(v)) continue;
                const std::int64_t size = size_of(v);
                out.z.unshared += size;
                if (over_.p[v] >= 0) continue;
                const int from = begins(v, i), until = last_.p[v] < i ? i : last_.p[v];
                chain.p[v] = ending.p[until];
                ending.p[until] = v;
                int& before = from != i || tail < 0 ? beginning.p[from] : next.p[tail];   // in the members' order
                next.p[v] = before;
                before = v;
                if (from == i) tail = v;
                change.p[from] += size;
                change.p[until + 1] -= size;
            }
        }
        std::int64_t alive = 0;
        for (int i = 0; i < groups; ++i) {
            out.live[i] = alive += change.p[i];
            if (alive > out.z.alive) out.z.alive = alive;
        }

        hole_list arena;
        auto place = [&](int v, bool take) {
            if (take) out.at[v] = {space::activation, arena.take(size_of(v))};
            else arena.give(out.at[v].offset(), size_of(v));
        };
        auto first_written_in = [&](int i, bool take) {
            for (int v = i < groups ? beginning.p[i] : -1; v >= 0; v = next.p[v]) place(v, take);
        };
        auto last_read_in = [&](int i, bool take) {
            for (int v = i < 0 ? -1 : ending.p[i]; v >= 0; v = chain.p[v]) place(v, take);
        };
        if (!backwards) {
            for (int i = 0; i < groups; ++i) last_read_in(i - 1, false), first_written_in(i, true);
        } else {
            for (int i = groups; i >= 0; --i) first_written_in(i + 1, false), last_read_in(i, true);
        }
        out.z.activations = arena.top();
        for (int v = 0; v < g_.n.n; ++v)
            if (over_.p[v] >= 0) out.at[v] = out.at[over_.p[v]];
    }
};

} // namespace sinter::compiler
