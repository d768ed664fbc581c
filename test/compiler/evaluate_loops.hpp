// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/scan.hpp>

#include "compiler/evaluate.hpp"

/// The meaning of a graph with loops, in double precision: iteration by iteration, everything kept.
/// See evaluate.hpp for single nodes.
namespace sinter::test {
using namespace compiler;

class graph_values {
public:
    std::vector<numbers> value;   ///< of each node that belongs to no loop

    graph_values(const graph& g, const surroundings& o)
        : value(at(g.n.n)), g_(g), o_(o), second_(value.size()), known_(value.size(), false), iterations_(value.size()),
          done_(at(g.loops.n) + 1, false), last_(at(g.carries.n)) {
        for (int v = 0; v < g.n.n; ++v)
            if (!g.n[v].loop) outside(v);
        for (int l = 1; l <= g.loops.n; ++l) need(l);
    }

private:
    const graph& g_;
    surroundings o_;
    std::vector<numbers> second_;
    std::vector<bool> known_;
    std::vector<std::vector<numbers>> iterations_;   ///< of a loop's node: its value in each iteration
    std::vector<bool> done_;
    std::vector<numbers> last_;                 ///< of each carry

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    template <class Of>
    numbers plainly(int v, Of operand) {
        const node& n = g_.n[v];
        if (n.k == op::input) return o_.ports.at(at(n.p[0]));
        if (n.k == op::parameter) return o_.parameters.at(at(n.p[0]));
        if (n.k == op::state) return o_.states.at(at(n.p[0]));
        if (n.k == op::get_output) return operand(n.in[0]), second_[at(n.in[0])];
        shape in[max_operands];
        std::vector<const double*> x;
        for (int k = 0; k < n.operands; ++k) in[k] = g_.n[n.in[k]].s, x.push_back(operand(n.in[k]).data());
        return value_of(n, in, x, o_, &second_[at(v)]);
    }
    /// What a loop leaves may stand before the last node of its body, so values are found when they are asked for.
    const numbers& outside(int v) {
        const node& n = g_.n[v];
        if (known_[at(v)]) return value[at(v)];
        known_[at(v)] = true;
        const int l = n.operands ? g_.n[n.in[0]].loop : 0;
        if (l) need(l);
        if (n.k == op::loop_stack) {   // zeros where no iteration was made
            for (const numbers& iteration : iterations_[at(n.in[0])])
                value[at(v)].insert(value[at(v)].end(), iteration.begin(), iteration.end());
        } else if (n.k == op::loop_last) {
            for (int c = 0; c < g_.carries.n; ++c)
                if (g_.carries[c].next == n.in[0]) value[at(v)] = last_[at(c)];
        } else {
            value[at(v)] = plainly(v, [&](int u) -> const numbers& { return outside(u); });
        }
        return value[at(v)];
    }
    void need(int l) {
        if (done_[at(l)]) return;
        done_[at(l)] = true;
        const loop& x = g_.loops[l - 1];
        std::vector<int> own;
        for (int v = 0; v < g_.n.n; ++v) {
            if (g_.n[v].loop != l) continue;
            own.push_back(v);
            for (int k = 0; k < g_.n[v].operands; ++k)
                if (const int other = g_.n[g_.n[v].in[k]].loop; other && other != l) need(other);
            iterations_[at(v)].assign(at(x.steps), numbers(at(test::count(g_.n[v].s, o_.batch)), 0.));
        }
        const double wanted = x.count < 0 ? x.steps : outside(x.count)[0];
        const int iterations = x.condition >= 0 ? (wanted != 0 ? x.steps : 0)
            : wanted > 0 ? static_cast<int>(std::fmin(wanted, x.steps)) : 0;
        std::vector<numbers> now(value.size());
        for (int c = 0; c < g_.carries.n; ++c)
            if (g_.carries[c].loop == l) now[at(g_.carries[c].value)] = last_[at(c)] = outside(g_.carries[c].store);
        int made = 0;
        for (bool more = true; more && made < iterations;) {
            const int iteration = x.backwards ? iterations - 1 - made : made;
            for (int v : own) {
                one(v, iteration, now);
                iterations_[at(v)][at(iteration)] = now[at(v)];
            }
            ++made;
            for (int c = 0; c < g_.carries.n; ++c)
                if (g_.carries[c].loop == l) last_[at(c)] = now[at(g_.carries[c].next)];
            for (int c = 0; c < g_.carries.n; ++c)
                if (g_.carries[c].loop == l) now[at(g_.carries[c].value)] = last_[at(c)];
            if (x.condition >= 0) more = now[at(x.condition)][0] != 0;
        }
        if (x.trips >= 0) known_[at(x.trips)] = true, value[at(x.trips)] = {static_cast<double>(made)};
    }
    void one(int v, int iteration, std::vector<numbers>& now) {
        const node& n = g_.n[v];
        const int size = test::count(n.s, o_.batch);
        const auto read = [&](int u) -> const numbers& { return g_.n[u].loop == n.loop ? now[at(u)] : outside(u); };
        if (n.k == op::loop_value) return;
        if (n.k == op::loop_saved)
            now[at(v)] = g_.n[n.in[0]].loop ? iterations_[at(n.in[0])].at(at(iteration)) : outside(n.in[0]);
        else if (n.k == op::loop_input)
            now[at(v)] = numbers(read(n.in[0]).begin() + iteration * size,
                                 read(n.in[0]).begin() + (iteration + 1) * size);
        else if (n.k == op::loop_index) now[at(v)] = {static_cast<double>(iteration)};
        else {
            o_.iteration = iteration;
            now[at(v)] = plainly(v, read);
        }
    }
};

} // namespace sinter::test
