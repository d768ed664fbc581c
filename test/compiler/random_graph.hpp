// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/pool.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/argsort.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/logsumexp.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/pad.hpp>
#include <sinter/ops/prod.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/reverse.hpp>
#include <sinter/ops/roll.hpp>
#include <sinter/ops/scatter_add.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/softmax.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/ops/top_k.hpp>
#include <sinter/ops/tril.hpp>
#include <sinter/ops/triu.hpp>
#include <sinter/ops/while_loop.hpp>
#include <random>

#include "compiler/interpret.hpp"
#include "compiler/random_ops.hpp"

/// Small random graphs out of everything that the passes treat differently. A recipe says how one
/// is made, step by step, so that a step can be left out and all others stay what they are.
namespace sinter::test {
using namespace compiler;

struct random_step {
    unsigned draw = 0;         ///< seed of all that the step chooses by itself
    int from = 0;              ///< the tensor that it is made of: the inputs, then each step's
    bool kept = true;          ///< else it is `from` as it was
    bool in_loss = false;
};
struct recipe {
    unsigned seed = 0;
    bool stops = true;         ///< also with stop_gradient, whose gradients are not those of the values
    bool loops = false;        ///< also with loops
    bool shared = false;       ///< every third step is of layers that share their weights, most of few columns
    std::vector<random_step> steps;

    static constexpr int inputs = 5;

    static recipe drawn(unsigned seed, int length, bool stops = true, bool loops = false) {
        recipe r{seed, stops, loops, false, {}};
        std::mt19937 random(seed);
        const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        for (int i = 0; i < length; ++i) {
            const unsigned draw = static_cast<unsigned>(random());
            const int newest = i ? inputs + i - 1 : below(inputs);
            r.steps.push_back({draw, below(3) ? newest : below(inputs + i), true, below(2) == 0});
        }
        return r;
    }
};

class random_graph {
public:
    random_graph(graph& g, unsigned seed, bool stops = true) : random_graph(g, recipe{seed, stops, false, false, {}}) {}
    random_graph(graph& g, const recipe& r) : g_(g), recipe_(r), random_(r.seed) {}

    /// Fills the graph; true with a loss.
    void build(int steps) {
        recipe_ = recipe::drawn(recipe_.seed, steps, recipe_.stops, recipe_.loops);
        build();
    }
    void build() {
        tensors_ = {input(g_, batch_of(6)), input(g_, batch_of(4, 6)), input(g_, batch_of(6, 6, 2)),
                    own(extents(4, 6)) * 0.5f, own(extents(1, 6)) * 2.f};   // and two without a batch
        rows_ = input(g_, [] { shape s = batch_of(4); s.type = dtype::i32; return s; }(), 5);
        for (const random_step& s : recipe_.steps) {
            random_.seed(s.draw);
            const tensor from = tensors_[static_cast<std::size_t>(s.from)];
            const std::size_t before = tensors_.size();
            if (s.kept && recipe_.shared && s.draw % 3 == 0) shared_layers(from);
            else if (s.kept) grow(from);
            if (tensors_.size() == before) tensors_.push_back(from);
        }
        random_.seed(recipe_.seed);
        tensor loss = ops::reshape(mean_of(tensors_[0]), extents());
        for (std::size_t i = 0; i < recipe_.steps.size(); ++i)
            if (recipe_.steps[i].in_loss || i + 1 == recipe_.steps.size())
                loss = loss + mean_of(tensors_[recipe::inputs + i]);
        g_.outputs.push(ops::plain(tensors_.back()).id);
        g_.loss = loss.id;
    }
    surroundings values(int batch) {
        surroundings o;
        o.batch = batch;
        std::normal_distribution<double> normal(0, 0.7);
        auto fill = [&](const shape& s, int below) {
            numbers x(static_cast<std::size_t>(count(s, batch)));
            for (double& e : x)
                e = below ? static_cast<double>(random_() % static_cast<unsigned>(below)) : normal(random_);
            return x;
        };
        for (int i = 0; i < g_.inputs.n; ++i) o.ports.push_back(fill(g_.n[g_.inputs[i]].s, g_.n[g_.inputs[i]].p[1]));
        for (int i = 0; i < g_.parameters.n; ++i) o.parameters.push_back(fill(g_.n[g_.parameters[i].id].s, 0));
        for (int i = 0; i < g_.states.n; ++i) o.states.push_back(fill(g_.n[g_.states[i].id].s, 0));
        o.scalars = {0.125, 0.01, 0.5, 0.25, 0.75, 0.5, 0.0625, 1.5};
        o.shard = random_() % 3;
        o.global_batch = batch + below(3) * batch;
        if (chance(2)) o.loss_weights = {3 + normal(random_), 5 + normal(random_)};
        return o;
    }

private:
    graph& g_;
    recipe recipe_;
    std::mt19937 random_;
    std::vector<tensor> tensors_;
    tensor rows_;
    std::vector<tensor> shared_;   ///< weights that a further layer may use as well
    int made_ = 0;

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    bool chance(int n) { return below(n) == 0; }
    tensor pick() { return tensors_[static_cast<std::size_t>(below(static_cast<int>(tensors_.size())))]; }
    /// By one of the ways in which losses are made means, of the batch's own examples or of all shards'.
    static tensor mean_of(tensor t) {
        t = ops::tanh(ops::plain(t));
        t = ops::reshape(t, extents(t.shape().size()));
        t = mean(t * t, {-1});
        if (!t.shape().batched) return ops::unary<op::batch_share>(t);
        const tensor total = sum(t, {batch_axis});
        switch (t.id % 4) {
            case 0: return ops::over_batch(total);
            case 1: return ops::unary<op::batch_share>(ops::over_batch(total));
            case 2: return ops::over_global_batch(total);
            default: break;
        }
        const tensor weight = sum(t * t + 0.5f, {batch_axis});
        const tensor all = make<op::global_loss_weight>(t.g, weight.shape(), {weight}, {t.id / 4 % 2});
        return total * ops::exp(-ops::log(all));   // a quotient is what a test breaks
    }
    const char* name() {
        static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o",
                                            "p", "q", "r", "s", "t"};
        g_.scope = g_.scopes.open("layer", 0);
        return names[made_++ % 20];
    }
    tensor own(const shape& s) { return parameter(in_graph(g_), name(), s, zeros); }
    void add(tensor t) {
        if (t.ok() && t.shape().size() <= 400) tensors_.push_back(t);
    }

    void grow(tensor x) {
        const shape s = x.shape();
        const shape c = extents(s.last());
        switch (below(recipe_.loops ? 40 : 35)) {
            case 0: return add(ops::relu(x));
            case 1: return add(ops::tanh(x) * 0.5f);
            case 2: return add(ops::sigmoid(x) + x);
            case 3: return add(x + own(c));
            case 4: return add(x * own(row_shape(c)));
            case 5: return binary(x);
            case 6: return add(ops::softmax(x));
            case 7: return normalise(x);
            case 8: return add(ops::tanh(ops::matmul(x, weights(x, name(), extents(s.last(), 1 + below(7)), zeros))));
            case 9: return add(ops::tanh(sum(x, {-1}, keep::yes)));
            case 10: return add(x - (s.batched && below(2) ? max(x, {batch_axis}) : max(x, {-1}, keep::yes)));
            case 11:
                if (s.rank > 1) add(ops::tanh(below(2) ? sum(x, {0}, keep::yes) : max(x, {0}, keep::yes)));
                return;
            case 12: return add(ops::concat(x, ops::tanh(x), below(s.rank ? s.rank : 1)));
            case 13:
                if (s.last() > 2) add(ops::slice(x, -1, below(2), 2));
                return;
            case 14: return add(ops::reshape(x, s.size() % 2 ? extents(s.size()) : extents(2, s.size() / 2)));
            case 15: return dropout(x);
            case 16: return image(x);
            case 17: return running(x);
            case 18: return recomputed(x);
            case 19:
                if (s.rank > 1) add(ops::transpose(x) * 1.5f);
                return;
            case 20: return add(recipe_.stops ? stop_gradient(x) * x : x * x);
            case 21: return add(ops::gather_rows(own(extents(5, 6)), rows_) * 0.5f);
            case 22: return add(one_hot(rows_, 6) + x_of(batch_of(4, 6)));
            case 23: return chosen(x);
            case 24: return move(x);
            case 25: return pointwise(x);
            case 26: return looked_up(x);
            case 27:
            case 28: return add(x * drawn(x) + x);
            case 29:
            case 30: return numbered(x);
            case 31: return add(unary_op(x, below(unary_ops)));
            case 32: return add(binary_op(x, beside(x), below(binary_ops)));
            case 33:
                if (s.rank && s.last() > 1) add(row_op(x, below(row_ops)));
                return;
            case 34: return sequence(x);
            case 35:
            case 36: return iterations(x);
            case 37: return either(x);
            case 38: return repeated(x);
            default: return loops_in_a_row(x);
        }
    }
    /// Weights of these extents: some that are there, or new ones.
    tensor shared_weights(int rows, int columns) {
        for (const tensor& w : shared_)
            if (w.shape().d[0] == rows && w.shape().d[1] == columns && !chance(4)) return w;
        shared_.push_back(weights(in_graph(g_), name(), extents(rows, columns), zeros));
        return shared_.back();
    }
    /// Dense layers one behind the other by the same weights, which may be used as they are, or what packed weights
    /// can become without being unpacked.
    void shared_layers(tensor x) {
        const int columns = chance(2) ? 1 : 1 + below(5);
        tensor y = ops::tanh(ops::matmul(x, shared_weights(x.shape().last(), columns)));
        for (int i = below(4); i > 0; --i) {
            tensor w = shared_weights(columns, columns);
            switch (below(5)) {
                case 0: w = w * 0.5f; break;
                case 1: w = w + ops::abs(w); break;
                case 2: w = w * w - w; break;
                default: break;
            }
            y = ops::matmul(y, w) + (chance(2) ? y : own(extents(columns)));
        }
        add(ops::tanh(y));
        if (chance(3) && shared_.size() > 1) {   // two that do not meet any other way
            const tensor w = shared_[shared_.size() - 2] * 1.f;
            add(x * ops::tanh(sum(ops::abs(w), {0, 1}, keep::no)));
        }
    }
    void iterations(tensor x) {   // a recurrent layer over the first axis
        const shape s = x.shape();
        if (s.rank < 2 || s.d[0] > 6) return;
        x = ops::reshape(x, extents(s.d[0], s.size() / s.d[0]));
        if (chance(4)) return wide_layer(x);
        const int in = x.shape().last(), width = 1 + below(4), kind = below(4);
        const tensor u = weights(x, name(), extents(width, width), zeros),
            w = weights(x, name(), extents(in, width), zeros);
        const tensor gate = own(extents(width));
        // a second product of the state
        const tensor v = chance(2) ? weights(x, name(), extents(width, width), zeros) : tensor{};
        shape first = extents(width);
        first.batched = s.batched;
        const tensor start = chance(2) ? ops::broadcast_to(constant(&g_, 0.25f), first)
            : ops::broadcast_to(own(extents(width)), first);
        scan_options o{.reverse = chance(2), .recompute = chance(3)};
        if (chance(2)) o.count = number_of_iterations(s.d[0]);
        const bool noise = chance(2);
        const tensor factor = chance(3) ? drawn(start) : gate;   // drawn once, or in each iteration
        const scan_step r = ops::scan(
            [=](bundle h, bundle in_turn) {
                const tensor a = kind == 2 ? h[0] * gate : ops::matmul(h[0], u), b = ops::matmul(in_turn[0], w);
                const tensor u = noise ? ops::random_uniform(b) * 0.2f : b * 0.2f;
                tensor next = kind == 1 ? ops::sigmoid(a) * h[0] + b : ops::tanh(a + b * factor + u + gate);
                if (v.ok()) next = next * ops::sigmoid(ops::matmul(h[0], v));
                return scan_step{next, kind == 3 ? next * h[0] + ops::loop_index(next) * 0.1f : next};
            },
            start, x, o);
        if (!r.carry.ok() || !r.outputs.ok()) return;
        add(chance(3) ? r.carry[0] : ops::plain(r.outputs[0]));
    }
    /// So many, or fewer: computed, a constant, or what another loop counts to.
    tensor number_of_iterations(int most) {
        const int n = below(most + 1), kind = below(3);
        if (kind == 0) return constant(&g_, static_cast<float>(n));
        if (kind == 1 || n == 0) return sum(own(extents(2)) * 0.f, {-1}) + static_cast<float>(n);
        const tensor zero = ops::broadcast_to(constant(&g_, 0.f), extents());
        return ops::scan([](bundle h, bundle) { return scan_step{h[0] + 1.f, {}}; }, zero, bundle{}, {.length = n})
            .carry[0];
    }
    /// Loops without a batch, one over rows that are cut from what the other hands on or put out.
    void loops_in_a_row(tensor x) {
        const int steps = 2 + below(3), rows = 1 + below(3), width = 1 + below(3), n = rows * width;
        const tensor from = own(extents(steps, n)), gate = own(extents(n)), other = own(extents(width));
        const tensor start = chance(2) ? own(extents(n)) : ops::tanh(own(extents(n)));
        scan_options o{.reverse = chance(2), .recompute = chance(3)};
        if (chance(3)) o.count = number_of_iterations(steps);
        const scan_step a = ops::scan(
            [=](bundle h, bundle row) {
                const tensor next = ops::tanh(h[0] * gate + row[0]);
                return scan_step{next, next};
            }, start, from, o);
        if (!a.carry.ok() || !a.outputs.ok()) return;
        const bool all = chance(3);
        const tensor left = all ? ops::reshape(a.outputs[0], extents(steps * rows, width))
            : ops::reshape(a.carry[0], extents(rows, width));
        scan_options p{.reverse = chance(2), .recompute = chance(3)};
        if (chance(3)) p.count = number_of_iterations(rows);
        const scan_step b = ops::scan(
            [=](bundle h, bundle row) {
                const tensor next = ops::tanh(h[0] + row[0] * other + other);
                return scan_step{next, next * h[0]};
            }, own(extents(width)), left, p);
        if (!b.carry.ok() || !b.outputs.ok()) return;
        const tensor y = chance(2) ? b.carry[0] : sum(ops::plain(b.outputs[0]), {0});
        add(x.shape().last() == width ? x * y : y);
    }
    /// A recurrent layer of as many columns as it takes for its weights' gradient's kernel to sum the bias's, too.
    void wide_layer(tensor x) {
        constexpr int width = 128;
        const tensor u = weights(x, name(), extents(width, width), zeros),
            w = weights(x, name(), extents(x.shape().last(), width), zeros);
        const tensor bias = own(extents(width));
        shape first = extents(width);
        first.batched = x.shape().batched;
        const scan_step r = ops::scan(
            [=](bundle h, bundle in) {
                const tensor next = ops::tanh(in[0] + ops::matmul(h[0], u));
                return scan_step{next, next};
            },
            ops::broadcast_to(constant(&g_, 0.25f), first), ops::matmul(x, w) + bias);
        if (r.carry.ok()) add(r.carry[0]);
    }
    /// A dense layer behind rows of a table, alone or beside other numbers.
    void looked_up(tensor x) {
        tensor all = ops::reshape(ops::gather_rows(own(extents(5, 6)), rows_), extents(24));
        if (x.shape().batched && x.shape().size() <= 36 && chance(2)) {
            const tensor others = ops::reshape(ops::plain(x), extents(x.shape().size()));
            all = chance(2) ? ops::concat(all, others, 0) : ops::concat(others, all, 0);
        }
        add(ops::tanh(ops::matmul(all, weights(all, name(), extents(all.shape().last(), 1 + below(5)), zeros))));
    }
    void either(tensor x) {
        const tensor w = own(extents(x.shape().last()));
        const bundle r = ops::cond(constant(&g_, static_cast<float>(below(2))) + sum(w * 0.f, {-1}),
                                   [=](bundle o) { return bundle(ops::tanh(o[0] * w)); },
                                   [=](bundle o) { return bundle(o[0] - w); }, x);
        if (r.ok()) add(r[0]);
    }
    void repeated(tensor x) {   // until a condition says stop
        const tensor w = own(extents(x.shape().last())), begin = constant(&g_, 0.f) + sum(w * 0.f, {-1});
        const float end = static_cast<float>(below(4));
        const bundle r = ops::while_loop([=](bundle c) { return greater(end, c[0]); },
                                         [=](bundle c) { return bundle(c[0] + 1.f, ops::tanh(c[1] * w + 0.1f)); },
                                         bundle(begin, ops::plain(x)), 3);
        if (r.ok()) add(r[1]);
    }
    void move(tensor x) {
        const shape s = x.shape();
        if (s.rank == 0) return;
        const int axis = below(s.rank);
        switch (below(10)) {
            case 8: return add(below(2) ? ops::prod(x, {axis}, keep::yes) : ops::logsumexp(x, {axis}, keep::yes));
            case 9:
                return add(below(2) ? ops::cumsum(x, axis, {chance(2), chance(2)}) * 0.3f
                           : ops::cumprod(x, axis, {chance(2), chance(2)}));
            case 5: return add(s.d[axis] > 1 ? ops::take_along_axis(x, ops::argsort(x, axis), axis) : x);
            case 6: return add(ops::top_k(x, (s.d[axis] + 1) / 2, axis).values);
            case 7: return indexed(x, axis);
            case 0: return add(ops::roll(x, 1 + below(3), axis));
            case 1: return add(ops::reverse(x, {axis}));
            case 2:
                return add(s.d[axis] > 2 ? ops::slice(x, axis, below(2), s.d[axis] / 2) : ops::pad(x, {{1, 0}}, 0.5f));
            case 3: return add(ops::pad(x, {{0, 1}}, s.d[0] > 1 && chance(2) ? pad_mode::reflect : pad_mode::edge));
            default: return add(ops::concat({x, x * 2.f, ops::tanh(x)}, axis));
        }
    }
    void indexed(tensor x, int axis) {   // by computed numbers, which also become floats
        const shape s = x.shape();
        const tensor i = ops::argmax(x, axis, keep::yes), all = ops::to_float(i);
        if (chance(3)) return add(x - ops::take_along_axis(x, i, axis));
        if (chance(2)) return add(ops::gather(x, ops::cast(ops::tanh(own(extents(3))) * 9.f, s.d[axis]), axis));
        add(ops::scatter_add(x, i, ops::tanh(all), axis));
    }
    tensor x_of(const shape& s) {
        for (auto t = tensors_.rbegin(); t != tensors_.rend(); ++t)
            if (t->shape() == s) return *t;
        return own(s.batched ? extents(s.last()) : s);
    }
    void binary(tensor x) {
        for (int i = 0; i < 6; ++i) {
            const tensor y = pick();
            shape out;
            if (y.shape().type != dtype::f32 || !broadcast_shape(x.shape(), y.shape(), out)) continue;
            return add(i % 2 ? x * ops::tanh(y) : x - y);
        }
    }
    /// Another tensor that broadcasts with x: one that is there, or a parameter of some of its axes.
    tensor beside(tensor x) {
        for (int i = 0; i < 3; ++i) {
            const tensor y = pick();
            shape out;
            if (y.shape().type == dtype::f32 && broadcast_shape(x.shape(), y.shape(), out) && out.size() <= 400)
                return y;
        }
        shape s = x.shape().plain();
        s.batched = false;
        for (int i = 0; i < s.rank; ++i)
            if (chance(3)) s.d[i] = 1;
        return own(s);
    }
    /// A convolution over time, of any kind, or a pool.
    void sequence(tensor x) {
        const shape s = x.shape();
        if (s.rank != 2 || s.d[0] < 3 || !s.batched) return;
        const int channels = s.last();
        const window o{.stride = 1 + below(2),
                       .padding = chance(3) ? padding::causal : chance(2) ? padding::same : padding(1, 0),
                       .dilation = 1 + below(2), .groups = chance(3) ? channels : 1};
        if (chance(3) && o.groups == 1) {
            const window pool{.stride = o.stride, .padding = padding::same};
            return add(chance(2) ? ops::avg_pool(x, 2, pool) : ops::lp_pool(x, 2, 2, pool));
        }
        if (s.d[0] < 2 * o.dilation.d[2]) return;
        add(ops::conv1d(x, weights(x, name(), extents(2, channels / o.groups, 2 * o.groups), zeros), o));
    }
    void chosen(tensor x) {   // three operands, each of its own extents if they can be
        const tensor y = pick();
        shape out;
        const bool fits = y.shape().type == dtype::f32 && broadcast_shape(x.shape(), y.shape(), out);
        const tensor c = greater(x, 0.125f), other = fits ? y : own(extents(x.shape().last()));
        if (chance(2)) add(where(c, ops::tanh(other), x));
        else add(where(c, other, -0.5f) * where(greater(other, 0.f), 0.5f, x));
    }
    void normalise(tensor x) {
        const tensor d = x - mean(x, {-1}, keep::yes), v = mean(d * d, {-1}, keep::yes);
        add(d / ops::sqrt(v + 0.1f) * own(extents(x.shape().last())));
    }
    void dropout(tensor x) {
        const tensor alive = ops::binary<op::greater>(constant(&g_, 0.7f), ops::random_uniform(x));
        add(x * (alive * (1.f / 0.7f)));
    }
    /// Random numbers that x may be multiplied by: one an element, a row, an example, of some axes, or one for all.
    tensor drawn(tensor x) {
        shape s = x.shape().plain();
        const int kind = below(6);
        if (kind == 0) s = extents(1);
        for (int i = 0; i < s.rank; ++i)
            if (kind == 1 || (kind == 2 && i == s.rank - 1) || (kind == 3 && i == 0) || (kind == 4 && chance(2)))
                s.d[i] = 1;
        if (chance(4)) s.batched = false;
        const tensor u = make<op::random_uniform>(&g_, s, {}, {++g_.streams});
        return chance(3) ? u : chance(2) ? greater(u, 0.3f) : ops::tanh(u + 0.5f);
    }
    /// By the numbers of rows and columns, of which there may be but one.
    void numbered(tensor x) {
        if (x.shape().rank < 2)
            x = ops::reshape(x, chance(2) ? extents(1, x.shape().size()) : extents(x.shape().size(), 1));
        const shape s = x.shape();
        const int k = below(4) - 1;
        switch (below(5)) {
            case 0: return add(ops::tril(x, k));
            case 1: return add(ops::triu(x, k));
            case 2: return add(ops::tril(sum(x, {-1}, keep::yes) * 0.2f, k) + x);
            case 3: return add(x * (column_numbers(chance(2) ? s.last() : 1) * 0.3f + 0.2f));
            default: {
                shape one = s.plain();
                one.d[s.rank - 1] = 1;
                if (chance(2)) one = extents(1);
                const tensor number = make<op::column_index>(&g_, one, {});
                return add(x + ops::tanh(number + 0.5f) * (chance(2) ? x : max(x, {-1}, keep::yes)));
            }
        }
    }
    tensor column_numbers(int n) { return make<op::column_index>(&g_, extents(n), {}); }
    void image(tensor x) {
        if (x.shape().rank != 3 || !x.shape().batched || x.shape().d[0] < 4 || x.shape().d[1] < 4) {
            if (x.shape().batched && x.shape().size() % 8 == 0 && x.shape().size() >= 32)
                x = ops::reshape(x, extents(4, x.shape().size() / 8, 2));
            else return;
            if (x.shape().size() != 8 * x.shape().d[1] || x.shape().d[1] < 4) return;
        }
        const int channels = x.shape().d[2], groups = chance(3) && channels % 2 == 0 ? 2 : 1;
        const tensor w = weights(x, name(), extents(3, 3, channels / groups, 2), zeros);
        window o{.stride = 1 + below(2), .padding = chance(2) ? padding::same : padding::valid, .groups = groups};
        if (o.padding == padding::same && chance(3)) o.dilation = {2, 1};
        tensor y = ops::conv2d(x, w, o);
        if (!y.ok()) return;
        if (chance(2)) y = y + own(extents(2));
        if (chance(2)) y = ops::relu(y);
        if (y.shape().d[0] > 1 && y.shape().d[1] > 1) y = chance(3) ? ops::avg_pool(y, 2, {2, padding::valid})
                                                                         : ops::max_pool(
                                                                             y, 2, {1 + below(2), padding::valid});
        add(y);
    }
    /// 1 x 1 convolutions with a normalisation of columns between them, a walk that may lead;
    /// sometimes somebody else reads it, too.
    void pointwise(tensor x) {
        if (!x.shape().batched || x.shape().size() % 4 || x.shape().size() > 100) return;
        x = ops::reshape(x, extents(2, 2, x.shape().size() / 4));
        const tensor y = ops::conv2d(x, weights(x, name(), extents(1, 1, x.shape().last(), 5), zeros));
        tensor z = y - ops::over_batch(sum(y, {batch_axis, 0, 1}));
        if (chance(2)) z = ops::relu(z * own(extents(5)));
        if (chance(2)) z = z + ops::tanh(y);
        const tensor w = weights(x, name(), extents(1, 1, 5, 5), zeros);
        tensor t = ops::conv2d(z, w);
        if (chance(2)) t = t + (chance(2) ? y : z);
        add(ops::tanh(t));
        if (chance(3)) add(z);
    }
    void running(tensor x) {   // as batch_norm's statistics, or one that is read after it was assigned
        if (!x.shape().batched) return;
        const shape c = extents(x.shape().last());
        const tensor old = state(x, name(), c, zeros);
        tensor m = ops::reshape(x, extents(x.shape().rows(), x.shape().last()));
        m = mean(m, {batch_axis, 0});
        assign(old, old * 0.9f + m * 0.1f);
        add(chance(2) ? x - m : x - m * old);
    }
    void recomputed(tensor x) {
        const int first = g_.n.n;
        const tensor y = ops::tanh(x * own(extents(x.shape().last()))) * ops::sigmoid(x);
        if (g_.n.n > first + 1) g_.regions.push(first), g_.regions.push(g_.n.n - 1);
        add(y + ops::softmax(y));
    }
};

} // namespace sinter::test
