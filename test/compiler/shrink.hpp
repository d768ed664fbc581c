// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include "compiler/evaluate_loops.hpp"
#include "compiler/random_graph.hpp"

/// A random program fused and unfused; and, where they differ, the smallest one of its kind that still does.
namespace sinter::test {
using namespace compiler;

/// A pass of the test's own, between the passes: how a broken one is smuggled in.
struct extra_passes {
    std::function<void(graph&)> before_gradients = [](graph&) {};
    std::function<void(passes&)> before_emission = [](passes&) {};
};

/// An optimizer as code, and what it means: the new parameters, of the old ones and of all gradients (empty ones where
/// there is none), its slots being zero.
struct tested_optimizer {
    using update = std::function<void(std::vector<numbers>& p, const std::vector<numbers>& d, const surroundings&)>;
    optimizer_code code;
    optimizer_code sums[most_sum_levels];
    update meaning;
};
inline void update_by_sgd(std::vector<numbers>& p, const std::vector<numbers>& d, const surroundings& o) {
    for (std::size_t i = 0; i < p.size(); ++i)
        for (std::size_t k = 0; k < d[i].size(); ++k) p[i][k] -= (d[i][k] + p[i][k] * o.scalars[1]) * o.scalars[0];
}

struct program_results {
    std::vector<std::pair<std::string, numbers>> all;
};

/// What the emitted program computes: loss, outputs, new states, gradients that are stored, new parameters.
inline program_results interpret(const recipe& r, const choices& c, const tested_optimizer& optimizer,
                                 const extra_passes& more, bool meaning) {
    auto p = std::make_unique<passes>();
    graph& g = p->g;
    random_graph made(g, r);
    made.build();
    program_results out;
    const auto put = [&](std::string name, int i, numbers v) {
        out.all.emplace_back(std::move(name) + ' ' + std::to_string(i), std::move(v));
    };
    if (g.err.what != fault_kind::none) {
        put(std::string("fault of ") + g.err.where.name, static_cast<int>(g.err.what), {});
        return out;
    }
    const surroundings o = made.values(c.max_batch);
    if (!meaning) hoist(g);   // the graph's own meaning is that of the graph as it was written
    more.before_gradients(g);
    p->optimizer = optimizer.code;
    std::copy(std::begin(optimizer.sums), std::end(optimizer.sums), p->sums);
    p->differentiate_all();
    if (g.n.n + g.n.n / 4 >= capacity) return out;
    if (meaning) {   // and that of pairs of bfloat16 is that of rounded numbers
        choices single = c;
        single.target.bfloat16_pairs = false;
        p->round_all(single);
    }
    const auto size = [&](int v) { return count(g.n[v].s, o.batch); };
    if (meaning) {
        const graph_values v(g, o);
        put("loss", 0, v.value[static_cast<std::size_t>(g.loss)]);
        for (int i = 0; i < g.outputs.n; ++i) put("output", i, v.value[static_cast<std::size_t>(g.outputs[i])]);
        for (int i = 0; i < g.assignments.n; ++i)
            put("state", i, v.value[static_cast<std::size_t>(g.assignments[i].value)]);
        std::vector<numbers> after = o.parameters, d;
        for (int i = 0; i < g.parameters.n; ++i)
            d.push_back(p->gradients[i] < 0 ? numbers{} : v.value[static_cast<std::size_t>(p->gradients[i])]);
        optimizer.meaning(after, d, o);
        for (int i = 0; i < g.parameters.n; ++i) put("parameter", i, after[static_cast<std::size_t>(i)]);
        return out;
    }
    p->fuse_all(c);
    p->plan_all(c);
    more.before_emission(*p);
    p->emit_all(c);
    machine m(*p, o, optimizer.code.slots, c.target);
    interpreter(*p, m).run();
    const auto at = [&](int v) { return p->p.at[v]; };
    put("loss", 0, m.read(at(g.loss), 1));
    for (int i = 0; i < g.outputs.n; ++i) put("output", i, m.read(at(g.outputs[i]), size(g.outputs[i])));
    for (int i = 0; i < g.assignments.n; ++i)
        put("state", i, m.read(at(g.assignments[i].target), size(g.assignments[i].target)));
    for (int i = 0; i < g.parameters.n; ++i)
        put("parameter", i, m.read_variable(g.n[g.parameters[i].id], at(g.parameters[i].id)));
    return out;
}

/// How a program's fused form differs from its unfused form, or either from what its graph means;
/// nothing where all agree.
class comparison {
public:
    explicit comparison(tested_optimizer optimizer, extra_passes broken = {})
        : optimizer_(std::move(optimizer)), broken_(std::move(broken)) {}

    std::optional<std::string> operator()(const recipe& r) const {
        const choices c = choices::drawn(r.seed);
        choices unfused = c;
        unfused.fuse = false;
        const program_results plain = interpret(r, unfused, optimizer_, {}, false),
            fused = interpret(r, c, optimizer_, broken_, false);
        if (auto d = differ(fused, plain)) return "fused and unfused: " + *d;
        if (auto d = differ(plain, interpret(r, c, optimizer_, {}, true))) return "program and graph: " + *d;
        return {};
    }

private:
    tested_optimizer optimizer_;
    extra_passes broken_;

    static std::optional<std::string> differ(const program_results& a, const program_results& b) {
        if (a.all.size() != b.all.size()) return "numbers of results";
        for (std::size_t i = 0; i < a.all.size(); ++i) {
            const auto& [name, x] = a.all[i];
            const numbers& y = b.all[i].second;
            if (name != b.all[i].first || x.size() != y.size()) return name + ": number of elements";
            for (std::size_t k = 0; k < x.size(); ++k) {
                const bool same = std::isfinite(y[k]) ? std::abs(x[k] - y[k]) <= 1e-8 * (1 + std::abs(y[k]))
                    : !std::isfinite(x[k]);
                if (same) continue;
                std::ostringstream text;
                text << name << ", element " << k << ": " << x[k] << ", not " << y[k];
                return text.str();
            }
        }
        return {};
    }
};

/// Leaves steps out, and what the loss reads, as long as `fails` says that the rest still fails.
template <class Fails>
recipe shrunk(recipe r, Fails fails) {
    const auto attempt = [&](recipe smaller) {
        if (!fails(smaller)) return false;
        r = std::move(smaller);
        return true;
    };
    for (bool again = true; again;) {
        again = false;
        for (std::size_t n = r.steps.size(); n > 1; --n) {   // all behind a step
            recipe s = r;
            s.steps.resize(n - 1);
            if (!attempt(s)) break;
            again = true;
        }
        for (std::size_t i = r.steps.size(); i-- > 0;) {
            recipe s = r;
            s.steps[i].kept = false;
            if (r.steps[i].kept && attempt(s)) again = true;
            s = r;
            s.steps[i].in_loss = false;
            if (r.steps[i].in_loss && attempt(s)) again = true;
            for (int from = 0; from < recipe::inputs; ++from) {
                s = r;
                s.steps[i].from = from;
                if (r.steps[i].kept && r.steps[i].from > from && attempt(s)) {
                    again = true;
                    break;
                }
            }
        }
    }
    return r;
}
inline int steps_kept(const recipe& r) {
    int n = 0;
    for (const random_step& s : r.steps) n += s.kept;
    return n;
}

/// The graph of a recipe as text: a line for each node that the loss or an output depends on.
inline std::string written(const recipe& r) {
    auto g = std::make_unique<graph>();
    random_graph(*g, r).build();
    std::vector<bool> live(static_cast<std::size_t>(g->n.n), false);
    live[static_cast<std::size_t>(g->loss)] = true;
    for (int i = 0; i < g->outputs.n; ++i) live[static_cast<std::size_t>(g->outputs[i])] = true;
    for (int i = 0; i < g->assignments.n; ++i) live[static_cast<std::size_t>(g->assignments[i].value)] = true;
    for (int i = 0; i < g->carries.n; ++i) live[static_cast<std::size_t>(g->carries[i].next)] = true;
    for (int v = g->n.n - 1; v >= 0; --v)
        for (int k = 0; live[static_cast<std::size_t>(v)] && k < g->n[v].operands; ++k)
            live[static_cast<std::size_t>(g->n[v].in[k])] = true;
    std::ostringstream text;
    for (int v = 0; v < g->n.n; ++v) {
        if (!live[static_cast<std::size_t>(v)]) continue;
        const node& n = g->n[v];
        text << "  %" << v << " = " << n.about->self.name << '(';
        for (int k = 0; k < n.operands; ++k) text << (k ? ", %" : "%") << n.in[k];
        if (n.k == op::constant) text << n.f;
        text << ") [" << (n.s.batched ? "B" : "");
        for (int k = 0; k < n.s.rank; ++k) text << (k || n.s.batched ? ", " : "") << n.s.d[k];
        text << ']';
        if (n.loop) text << " in loop " << n.loop << " of " << g->loops[n.loop - 1].steps;
        text << '\n';
    }
    text << "  loss %" << g->loss;
    for (int i = 0; i < g->outputs.n; ++i) text << ", output %" << g->outputs[i];
    text << '\n';
    return text.str();
}

} // namespace sinter::test
