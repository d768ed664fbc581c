// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/attention_positions.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/less.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/not_equal.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/ops/range.hpp>
#include <sinter/ops/softmax.hpp>
#include <sinter/ops/where.hpp>
#include <limits>

/// What attention's gradients give their own operands: attention written out as products and a
/// softmax, whose matrices [T, S] are stored. Only nets that differentiate twice through attention
/// have these nodes; they can be differentiated again.
namespace sinter::inline SINTER_TARGET::detail {

class attention_products {
public:
    /// Of a node whose operands are those of attention_gradient.
    constexpr explicit attention_products(const gradient_of& g) : g_(g), n_(g.n()) {
        groups_ = n_.p[attention_attribute::groups], each_ = n_.p[attention_attribute::heads] / groups_,
        queries_ = g.x(0).shape().d[0], keys_ = g.x(1).shape().d[0];
        q_ = by_heads(g.x(0), each_);
        k_ = counted(by_heads(g.x(1), 1));
        v_ = counted(by_heads(g.x(2), 1));
        d_ = by_heads(g.x(7), each_);
        p_ = probabilities();
        if (n_.p[attention_attribute::stream]) {
            shape s = sinter::extents(groups_, each_, queries_, keys_);
            s.batched = d_.shape().batched;
            const float kept = 1 - std::bit_cast<float>(n_.p[attention_attribute::dropout]);
            mask_ =
                ops::less(make<op::random_uniform>(g.g, s, {}, {n_.p[attention_attribute::stream]}), kept) * (1 / kept);
        }
        c_ = masked(product(d_, v_, transposed::no, transposed::yes));
        mean_ = row_sum(p_ * c_);
    }

    /// Adds to the operands' gradients what comes from those of the results: `dq`, `dk`, `dv` and
    /// `bias`, each as it is, or none. With P the probabilities, C the gradient that comes to them,
    /// c = sum P C and S' = P (C - c) that of the scores: dq = s S' k, dk = s S'^T q, dv = P^T d,
    /// bias = S'.
    constexpr void add(gradient_of& g, tensor dq, tensor dk, tensor dv, tensor bias) const {
        tensor w, by_p, by_c;   // gradients of S', of P but through S' alone, and of C
        if (dq.ok()) w = scaled(product(dq = by_heads(dq, each_), k_, transposed::no, transposed::yes));
        if (dk.ok()) w = plus(w, scaled(product(q_, dk = by_heads(dk, 1), transposed::no, transposed::yes)));
        if (bias.ok()) w = plus(w, of_bias(bias));
        if (w.ok()) {
            const tensor off = c_ - mean_, sum = row_sum(p_ * w);
            by_p = w * off - sum * c_;
            by_c = masked(p_ * (w - sum));
        }
        if (dv.ok()) by_p = plus(by_p, masked(product(d_, dv = by_heads(dv, 1), transposed::no, transposed::yes)));
        const tensor z = p_ * (by_p - row_sum(p_ * by_p)),
                     s = p_ * (c_ - mean_);   // the scores' gradients: second, first
        if (g.wants(0)) {
            tensor t = product(z, k_);
            if (dk.ok()) t = t + product(s, dk);
            g.add(0, back(scaled(t), g.x(0).shape()));
        }
        if (g.wants(1)) {
            tensor t = product(z, q_, transposed::yes);
            if (dq.ok()) t = t + product(s, dq, transposed::yes);
            g.add(1, back(scaled(ops::sum(t, {1}, keep::yes)), g.x(1).shape()));
        }
        if (g.wants(2) && by_c.ok())
            g.add(2, back(ops::sum(product(by_c, d_, transposed::yes), {1}, keep::yes), g.x(2).shape()));
        if (g.wants(7)) {
            tensor t;
            if (by_c.ok()) t = product(by_c, v_);
            if (dv.ok()) t = plus(t, product(masked(p_), dv));
            g.add(7, back(t, g.x(7).shape()));
        }
        if (n_.p[attention_attribute::biased] && g.wants(4))
            g.add(4, ops::reshape(z, sinter::extents(groups_ * each_, queries_, keys_)));
    }

private:
    const gradient_of& g_;
    const node n_;
    int groups_, each_, queries_, keys_;   ///< each_: heads of queries for one of keys
    tensor q_, k_, v_, d_, p_, mask_, c_, mean_;

    static constexpr tensor product(tensor a, tensor b, transposed ta = transposed::no,
                                    transposed tb = transposed::no) {
        return ops::matmul(a, b, ta, tb);
    }
    static constexpr tensor plus(tensor a, tensor b) { return a.ok() ? a + b : b; }
    static constexpr tensor row_sum(tensor x) { return ops::sum(x, {-1}, keep::yes); }
    constexpr tensor masked(tensor x) const { return mask_.ok() ? x * mask_ : x; }
    constexpr tensor scaled(tensor x) const { return x * n_.f; }

    /// [L, heads W] or [L, heads, W] as [G, heads of a group, L, W], and back.
    constexpr tensor by_heads(tensor x, int each) const {
        const shape s = x.shape();
        x = ops::reshape(ops::unpack(x), sinter::extents(s.d[0], groups_, each, s.size() / (s.d[0] * groups_ * each)));
        return ops::permute(x, {1, 2, 0, 3});
    }
    static constexpr tensor back(tensor x, const shape& s) { return ops::reshape(ops::permute(x, {2, 0, 1, 3}), s); }

    constexpr tensor length() const { return ops::reshape(ops::to_float(g_.x(3)), sinter::extents(1, 1, 1, 1)); }
    /// Keys or values with zeros beyond their length: a product with 0 of what is not finite is none.
    constexpr tensor counted(tensor x) const {
        if (!n_.p[attention_attribute::measured]) return x;
        const tensor place = ops::reshape(ops::range(x, keys_), sinter::extents(keys_, 1));
        return ops::where(ops::less(place, length()), x, 0.f);
    }
    constexpr tensor of_bias(tensor b) const {
        const shape s = b.shape();
        if (s.rank < 3 || s.d[0] == 1) return ops::reshape(b, sinter::extents(1, 1, s.size() / keys_, keys_));
        return ops::reshape(b, sinter::extents(groups_, each_, s.d[1], keys_));
    }
    /// Of all keys; 0 where a query does not see one, and all of them if it sees none.
    constexpr tensor probabilities() const {
        constexpr float hidden = -std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::lowest();
        tensor scores = scaled(product(q_, k_, transposed::no, transposed::yes));
        if (n_.p[attention_attribute::biased]) scores = scores + of_bias(ops::unpack(g_.x(4)));
        const bool some = n_.p[attention_attribute::shift] + 1 < keys_ || n_.p[attention_attribute::measured] ||
                          n_.p[attention_attribute::biased] || n_.p[attention_attribute::packed];
        if (!some) return ops::softmax(scores);
        const tensor key = ops::range(scores, keys_);
        if (n_.p[attention_attribute::shift] + 1 < keys_) {
            const tensor end = ops::range(scores, queries_, static_cast<float>(n_.p[attention_attribute::shift] + 1));
            scores = ops::where(ops::less(key, ops::reshape(end, sinter::extents(queries_, 1))), scores, hidden);
        }
        if (n_.p[attention_attribute::measured]) {
            scores = ops::where(ops::less(key, length()), scores, hidden);
        }
        if (n_.p[attention_attribute::packed]) {   // their numbers as floats: exact up to 2^24
            const tensor own = ops::reshape(ops::to_float(g_.x(3)), sinter::extents(1, 1, queries_, 1)),
                         others = ops::reshape(own, sinter::extents(1, 1, 1, keys_));
            scores = ops::where(ops::equal(own, others) * ops::not_equal(own, 0.f), scores, hidden);
        }
        const tensor shifted = ops::shifted(ops::maximum(scores, constant(g_.g, least)));
        const tensor e = ops::exp(shifted) * ops::greater(scores, hidden), sum = row_sum(e);
        return e * (1.f / (sum + ops::equal(sum, 0.f)));
    }
};

} // namespace sinter::detail
