// SPDX-License-Identifier: BSL-1.0
// shows numbers: softmax, cross entropies, CTC, sampled losses and attention at any finite scores
#define BOOST_TEST_MODULE attention
#include <boost/test/unit_test.hpp>

#include <sinter/ops/attention.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/less.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/softmax.hpp>

#include "support/attention.hpp"
#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

// The kernels' own test, kernel/attention.cpp, goes through many extents; here is what programs make of them.

template <attention_case C>
struct op_of {
    static constexpr shape of(int length, int heads, int width) {
        return C.axis ? batch_of(length, heads, width) : batch_of(length, heads * width);
    }
    static constexpr shape operands[] = {of(C.queries, C.heads, C.width), of(C.keys, C.groups, C.width),
                                         of(C.keys, C.groups, C.value_width)};
    static constexpr double low = -2, high = 2;
    static constexpr tensor apply(tensor q, tensor k, tensor v) {
        return attention(q, k, v, {.heads = C.heads, .causal = C.mask, .scale = C.scale, .dropout = C.dropout});
    }
    static doubles reference(const doubles& q, const doubles& k, const doubles& v) {
        return plain_attention(C, q, k, v).y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<attention_case{
                 .heads = 2, .groups = 2, .queries = 4, .keys = 5, .width = 3, .value_width = 2, .scale = 0.5f,
                 .axis = false, .dropout = 0.3f}>, programs::all, 2>();
    check_op<op_of<attention_case{.heads = 4, .groups = 2, .queries = 3, .keys = 5, .mask = causal::from_end}>,
             programs::fused_only, 2>();
}

/// Self-attention with a bias that is learned, and its gradient; lengths: the integers of an input.
struct biased {
    static constexpr attention_case c{.heads = 2, .groups = 2, .queries = 4, .keys = 4, .mask = causal::yes,
                                      .axis = false};
    static constexpr shape whole = [] { shape s = batch_of(1); s.type = dtype::i32; return s; }();
    static constexpr shape operands[] = {batch_of(4, 6), extents(2, 4, 4), whole};
    static constexpr double low = -1, high = 5;
    static constexpr tensor apply(tensor x, tensor b, tensor n) {
        return attention(x, x, x, {.heads = 2, .causal = c.mask, .lengths = n, .bias = b});
    }
    static doubles reference(const doubles& x, const doubles& b, const doubles& n) {
        return plain_attention(c, x, x, x, &b, &n).y;
    }
};
BOOST_AUTO_TEST_CASE(bias_and_lengths) { check_op<biased, programs::fused_only, 3>(); }

/// Rows of several segments, of which a bias is learned; among the numbers drawn 0 is padding.
struct packed_rows {
    static constexpr attention_case c{.heads = 2, .groups = 2, .queries = 5, .keys = 5, .mask = causal::yes,
                                      .axis = false};
    static constexpr shape numbers = [] { shape s = batch_of(5); s.type = dtype::i32; return s; }();
    static constexpr shape operands[] = {batch_of(5, 6), extents(2, 5, 5), numbers};
    static constexpr double low = -1, high = 3;
    static constexpr tensor apply(tensor x, tensor b, tensor s) {
        return attention(x, x, x, {.heads = 2, .causal = c.mask, .segments = s, .bias = b});
    }
    static doubles reference(const doubles& x, const doubles& b, const doubles& s) {
        return plain_attention(c, x, x, x, &b, nullptr, nullptr, &s).y;
    }
};
BOOST_AUTO_TEST_CASE(segments) { check_op<packed_rows, programs::all, 3>(); }

/// And a gradient of their gradient, with dropout.
struct packed_slopes : packed_rows {
    static constexpr attention_case c{.heads = 2, .groups = 2, .queries = 5, .keys = 5, .axis = false, .dropout = 0.3f};
    static constexpr shape operands[] = {batch_of(5, 6), numbers};
    static constexpr tensor apply(tensor x, tensor s) {
        const tensor y = attention(x, x, x, {.heads = 2, .segments = s, .dropout = c.dropout});
        return ops::gradient(y * y, x);
    }
    static doubles reference(const doubles& x, const doubles& s) {
        const doubles y = plain_attention(c, x, x, x, nullptr, nullptr, nullptr, &s).y,
                      d = map(y, [](double e) { return 2 * e; });
        attention_result r = plain_attention(c, x, x, x, nullptr, nullptr, &d, &s);
        for (int i = 0; i < x.size(); ++i) r.dq[i] += r.dk[i] + r.dv[i];
        return r.dq;
    }
};
BOOST_AUTO_TEST_CASE(gradients_of_gradients_of_segments) { check_op<packed_slopes, programs::fused_only, 3>(); }

/// The gradient of the sum of attention's squares, which has a gradient, too: all that attention
/// knows in one. Queries, and fewer keys and values for fewer heads, are parts of one tensor; some
/// queries see no key.
struct slopes {
    static constexpr attention_case c{.heads = 4, .groups = 2, .queries = 4, .keys = 3, .width = 2, .value_width = 2,
                                      .mask = causal::from_end, .axis = false, .dropout = 0.3f};
    static constexpr shape operands[] = {batch_of(4, 8), extents(4, 4, 3), biased::whole};
    static constexpr double low = -1, high = 4;
    static constexpr tensor apply(tensor x, tensor b, tensor n) {
        const tensor k = ops::slice(ops::slice(x, 0, 0, 3), 1, 0, 4), v = ops::slice(ops::slice(x, 0, 1, 3), 1, 4, 4);
        const tensor y = attention(x, k, v,
                                   {.heads = 4, .causal = c.mask, .lengths = n, .bias = b, .dropout = c.dropout});
        const bundle d = ops::gradient(y * y, bundle(x, b));
        return d[0] * ops::sum(d[1] * d[1], {0, 1, 2});
    }
    static doubles reference(const doubles& x, const doubles& b, const doubles& n) {
        const int batch = x.d[0];
        doubles k({batch, 3, 4}), v({batch, 3, 4});
        for (int i = 0; i < k.size(); ++i) {
            const int from = i / 12 * 32 + i % 12 / 4 * 8 + i % 4;
            k[i] = x[from], v[i] = x[from + 12];
        }
        const doubles d = map(plain_attention(c, x, k, v, &b, &n).y, [](double y) { return 2 * y; });
        attention_result r = plain_attention(c, x, k, v, &b, &n, &d);
        for (int i = 0; i < k.size(); ++i) {
            const int to = i / 12 * 32 + i % 12 / 4 * 8 + i % 4;
            r.dq[to] += r.dk[i], r.dq[to + 12] += r.dv[i];
        }
        double sum = 0;
        for (int i = 0, own = b.size(); i < own; ++i) {   // all examples share the bias
            double e = 0;
            for (int j = 0; j < batch; ++j) e += r.dbias[j * own + i];
            sum += e * e;
        }
        return map(r.dq, [=](double e) { return e * sum; });
    }
};
BOOST_AUTO_TEST_CASE(gradients_of_gradients) { check_op<slopes, programs::fused_only, 3>(); }

/// Queries without a batch are the same for all examples; the same by products and softmax, whose
/// probabilities are dropped by the very same numbers.
struct against_products {
    static constexpr shape operands[] = {extents(3, 4), batch_of(5, 4)};
    static constexpr tensor apply(tensor q, tensor k) {
        const tensor y = attention(q, k, k, {.dropout = 0.375f});
        const tensor p = ops::softmax(matmul(q, k, transposed::no, transposed::yes) * 0.5f);
        const tensor u = make<op::random_uniform>(q.g, p.shape(), {}, {y.at().p[5]});
        return y - matmul(p * ops::less(u, 0.625f) * (1 / 0.625f), k);
    }
    static doubles reference(const doubles&, const doubles& k) { return doubles({k.d[0], 3, 4}); }
};
BOOST_AUTO_TEST_CASE(as_products_and_softmax) {
    check_op<against_products, programs::fused_only, 3>({.value = 1e-4, .gradient = 1e-4});
}

BOOST_AUTO_TEST_CASE(segments_that_do_not_fit) {
    const auto refused = [](const shape& ids, int keys, bool measured) {
        graph g;
        const tensor q = parameter(tensor{&g, 0}, "q", extents(3, 4), ones),
                     k = parameter(q, "k", extents(keys, 4), ones);
        const auto input = [&](const shape& s) {
            const tensor t = make<op::input>(&g, s, {}, {g.inputs.n});
            g.inputs.push(t.id);
            return t;
        };
        attention_options o{.segments = input(ids)};
        if (measured) o.lengths = input(biased::whole);
        const bool ok = attention(q, k, k, o).ok();
        BOOST_TEST((ok || g.err.what == fault_kind::segments_do_not_fit));
        return !ok;
    };
    const auto integers = [](shape s) { s.type = dtype::i32; return s; };
    BOOST_TEST(!refused(integers(batch_of(3)), 3, false));
    BOOST_TEST(refused(integers(batch_of(4)), 3, false));
    BOOST_TEST(refused(integers(batch_of(3, 1)), 3, false));
    BOOST_TEST(refused(integers(batch_of(3)), 4, false));   // another number of keys
    BOOST_TEST(refused(batch_of(3), 3, false));             // floats
    BOOST_TEST(refused(integers(extents(3)), 3, false));    // the same for all examples
    BOOST_TEST(refused(integers(batch_of(3)), 3, true));    // with lengths
}

/// A node says what is dropped, and only in training: without a rate it is the node that it was.
BOOST_AUTO_TEST_CASE(dropout_in_training_alone) {
    for (program_mode mode : {program_mode::training, program_mode::evaluation, program_mode::prediction}) {
        graph g;
        g.set_mode(mode);
        const tensor q = parameter(tensor{&g, 0}, "q", extents(3, 4), ones), y = attention(q, q, q);
        BOOST_TEST(attention(q, q, q, {.dropout = 0}).id == y.id);
        const tensor first = attention(q, q, q, {.dropout = 0.5f}), second = attention(q, q, q, {.dropout = 0.5f});
        BOOST_TEST((first.id == y.id) == (mode != program_mode::training));
        BOOST_TEST((first.id == second.id) == (mode != program_mode::training));   // two calls draw twice
        BOOST_TEST(g.streams == (mode == program_mode::training ? 2 : 0));
    }
    for (float rate : {-0.25f, 1.f, 7.f, NAN}) {
        graph g;
        const tensor q = parameter(tensor{&g, 0}, "q", extents(3, 4), ones);
        BOOST_TEST(!attention(q, q, q, {.dropout = rate}).ok());
        BOOST_TEST((g.err.what == fault_kind::dropout_rate_refused));
    }
}
