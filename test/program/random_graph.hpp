// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/layers/pool.hpp>
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
#include <random>

#include "program/interpret.hpp"

/// Small random graphs out of everything that the passes treat differently.
namespace sinter::test {

class random_graph {
public:
    /// `stops`: also with stop_gradient, whose gradients are not those of the values.
    random_graph(graph& g, unsigned seed, bool stops = true) : g_(g), random_(seed), stops_(stops) {}

    /// Fills the graph; true with a loss.
    void build(int steps) {
        tensors_.push_back(input(g_, batch_of(6)));
        tensors_.push_back(input(g_, batch_of(4, 6)));
        if (chance(2)) tensors_.push_back(input(g_, batch_of(6, 6, 2)));
        rows_ = input(g_, [] { shape s = batch_of(4); s.type = dtype::i32; return s; }(), 5);
        for (int i = 0; i < steps; ++i) grow();
        tensor loss = ops::reshape(mean_of(tensors_[0]), extents());
        for (const tensor& t : tensors_)
            if (chance(2) || t.id == tensors_.back().id) loss = loss + mean_of(t);
        g_.outputs.push(ops::unpack(tensors_.back()).id);
        if (chance(3)) g_.outputs.push(ops::unpack(pick()).id);
        g_.loss = loss.id;
    }
    surroundings values(int batch) {
        surroundings o;
        o.batch = batch;
        std::normal_distribution<double> normal(0, 0.7);
        auto fill = [&](const shape& s, int below) {
            numbers x(static_cast<std::size_t>(count(s, batch)));
            for (double& e : x) e = below ? static_cast<double>(random_() % static_cast<unsigned>(below)) : normal(random_);
            return x;
        };
        for (int i = 0; i < g_.inputs.n; ++i) o.ports.push_back(fill(g_.n[g_.inputs[i]].s, g_.n[g_.inputs[i]].p[1]));
        for (int i = 0; i < g_.parameters.n; ++i) o.parameters.push_back(fill(g_.n[g_.parameters[i].id].s, 0));
        for (int i = 0; i < g_.states.n; ++i) o.states.push_back(fill(g_.n[g_.states[i].id].s, 0));
        o.scalars = {0.125, 0.01, 0.5, 0.25, 0.75, 0.5, 0.0625, 1.5};
        return o;
    }

private:
    graph& g_;
    std::mt19937 random_;
    bool stops_;
    std::vector<tensor> tensors_;
    tensor rows_;
    int made_ = 0;

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    bool chance(int n) { return below(n) == 0; }
    tensor pick() { return tensors_[static_cast<std::size_t>(below(static_cast<int>(tensors_.size())))]; }
    tensor recent() { return chance(3) ? pick() : tensors_.back(); }
    static tensor mean_of(tensor t) {
        t = ops::tanh(ops::unpack(t));
        t = ops::reshape(t, extents(t.shape().size()));
        t = mean(t * t, {-1});
        return t.shape().batched ? ops::over_batch(sum(t, {batch_axis})) : t;
    }
    const char* name() {
        static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
        g_.scope = g_.scopes.open("layer", 0);
        return names[made_++ % 20];
    }
    tensor own(const shape& s) { return parameter(in_graph(g_), name(), s, zeros); }
    void add(tensor t) {
        if (t.ok() && t.shape().size() <= 400) tensors_.push_back(t);
    }

    void grow() {
        const tensor x = recent();
        const shape s = x.shape();
        const shape c = extents(s.last());
        switch (below(26)) {
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
            case 10: return add(x - max(x, {-1}, keep::yes));
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
            case 20: return add(stops_ ? stop_gradient(x) * x : x * x);
            case 21: return add(ops::gather_rows(own(extents(5, 6)), rows_) * 0.5f);
            case 22: return add(one_hot(rows_, 6) + x_of(batch_of(4, 6)));
            case 23: return chosen(x);
            case 24: return move(x);
            default: return add(ops::exp(ops::tanh(x)) / 2.f - ops::maximum(x, 0.25f));
        }
    }
    void move(tensor x) {
        const shape s = x.shape();
        if (s.rank == 0) return;
        const int axis = below(s.rank);
        switch (below(10)) {
            case 8: return add(below(2) ? ops::prod(x, {axis}, keep::yes) : ops::logsumexp(x, {axis}, keep::yes));
            case 9: return add(below(2) ? ops::cumsum(x, axis, {chance(2), chance(2)}) * 0.3f : ops::cumprod(x, axis, {chance(2), chance(2)}));
            case 5: return add(s.d[axis] > 1 ? ops::take_along_axis(x, ops::argsort(x, axis), axis) : x);
            case 6: return add(ops::top_k(x, (s.d[axis] + 1) / 2, axis).values);
            case 7: return indexed(x, axis);
            case 0: return add(ops::roll(x, 1 + below(3), axis));
            case 1: return add(ops::reverse(x, {axis}));
            case 2: return add(s.d[axis] > 2 ? ops::slice(x, axis, below(2), s.d[axis] / 2) : ops::pad(x, {{1, 0}}, 0.5f));
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
    void image(tensor x) {
        if (x.shape().rank != 3 || !x.shape().batched || x.shape().d[0] < 4 || x.shape().d[1] < 4) {
            if (x.shape().batched && x.shape().size() % 8 == 0 && x.shape().size() >= 32) x = ops::reshape(x, extents(4, x.shape().size() / 8, 2));
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
                                                                         : ops::max_pool(y, 2, {1 + below(2), padding::valid});
        add(y);
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
