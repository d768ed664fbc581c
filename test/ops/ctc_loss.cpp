// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE ctc_loss
#include <boost/test/unit_test.hpp>

#include <sinter/ops/ctc_loss.hpp>
#include <sinter/ops/sum.hpp>

#include "fixtures/losses.hpp"
#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

constexpr shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
/// -log of the sum over all paths of C^T that collapse to the labels, spelled out.
static double every_path(const double* z, int frames, int classes, const std::vector<int>& labels, int blank) {
    std::vector<double> p(static_cast<std::size_t>(frames * classes));
    for (int t = 0; t < frames; ++t) {
        double all = 0;
        for (int c = 0; c < classes; ++c) all += std::exp(z[t * classes + c]);
        for (int c = 0; c < classes; ++c)
            p[static_cast<std::size_t>(t * classes + c)] = std::exp(z[t * classes + c]) / all;
    }
    double sum = 0;
    std::vector<int> path(static_cast<std::size_t>(frames));
    for (bool more = true; more;) {
        std::vector<int> said;
        double here = 1;
        int last = blank;
        for (int t = 0; t < frames; ++t) {
            const int c = path[static_cast<std::size_t>(t)];
            here *= p[static_cast<std::size_t>(t * classes + c)];
            if (c != blank && c != last) said.push_back(c);
            last = c;
        }
        if (said == labels) sum += here;
        more = false;
        for (int t = 0; t < frames && !more; ++t) {
            more = ++path[static_cast<std::size_t>(t)] < classes;
            if (!more) path[static_cast<std::size_t>(t)] = 0;
        }
    }
    return -std::log(sum);
}
template <int T, int C, int L>
struct op_of {   // the last class is the blank, and so is never drawn as a label
    static constexpr shape operands[] = {whole(batch_of(L)), batch_of(T, C)};
    static constexpr double low = -1, high = C - 1;
    static constexpr tensor apply(tensor labels, tensor z) { return ops::ctc_loss(z, labels, C - 1) * 0.5f; }
    static doubles reference(const doubles& labels, const doubles& z) {
        doubles y({z.d[0]});
        for (int i = 0; i < z.d[0]; ++i) {
            std::vector<int> said;
            for (int k = 0; k < L; ++k) said.push_back(static_cast<int>(labels[i * L + k]));
            y[i] = every_path(z.v.data() + i * T * C, T, C, said, C - 1) / 2;
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<4, 3, 2>>();
    check_op<op_of<5, 4, 2>, programs::fused_only>();
    check_op<op_of<1, 2, 1>, programs::fused_only>();
}

/// Logits of Ts frames, labels, lengths; the net's parameter is added to the logits.
template <int T, int C, int L, int Blank>
struct listener {
    static constexpr bundle trace(graph& g) {
        const shape s[] = {batch_of(T, C), whole(batch_of(L)), whole(batch_of())};
        tensor in[3];
        for (int i = 0; i < 3; ++i) g.inputs.push((in[i] = make<op::input>(&g, s[i], {}, {i})).id);
        return ops::ctc_loss(in[0] + parameter(in[0], "offset", extents(T, C), zeros), in[1], Blank, in[2]);
    }
};
struct sum_of_outputs {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return y[0]; }
};
BOOST_AUTO_TEST_CASE(lengths_as_pytorch) {
    namespace golden = fixture::losses;
    const auto p = make_run<listener<7, 5, 3, 0>, sum_of_outputs, as_fused, 4>();
    doubles z({4, 7, 5}), labels({4, 3}), lengths({4}), sum({7, 5});
    for (int i = 0; i < 140; ++i) z[i] = golden::ctc_logits[i], sum[i % 35] += golden::ctc_dy[i] / 4;
    for (int i = 0; i < 12; ++i) labels[i] = golden::ctc_labels[i];
    for (int i = 0; i < 4; ++i) lengths[i] = golden::ctc_lengths[i];
    p->run(4, {z, labels, lengths});
    check_close(p->output(0, 4), doubles({4}, std::vector<double>(golden::ctc, golden::ctc + 4)), 1e-6, "losses");
    check_close(p->gradient(0), sum, 2e-6, "gradient");
}
// Long sequences: the gradient of each frame sums to nothing, and values do not overflow.
BOOST_AUTO_TEST_CASE(a_long_sequence) {
    constexpr int T = 600, C = 37, L = 100;
    const auto p = make_run<listener<T, C, L, 5>, sum_of_outputs, as_fused, 1>();
    random_numbers random(2);
    doubles z = random.fill({1, T, C}, -6, 6), labels({1, L});
    for (int i = 0; i < L; ++i) labels[i] = i % 7 == 0 ? 3 : 6 + i % 30;
    for (int run = 0; run < 2; ++run) {   // the second time what is said is nearly certain
        for (int t = 0; run && t < T; ++t)
            z[t * C + (t < 3 * L && t % 3 == 1 ? static_cast<int>(labels[t / 3]) : 5)] += 60;
        p->set(p->parameters[0], doubles({T, C}));
        p->run(1, {z, labels, doubles({1}, T)});
        BOOST_TEST(std::isfinite(p->loss));
        if (run) BOOST_TEST(p->loss < 1e-3f);
        else BOOST_TEST(p->loss > 100.f);
        const auto g = p->gradient(0);
        for (int t = 0; t < T; ++t) {
            double sum = 0;
            for (int c = 0; c < C; ++c) sum += static_cast<double>(g[static_cast<std::size_t>(t * C + c)]);
            BOOST_REQUIRE(std::abs(sum) < 1e-5);
        }
    }
}
/// What all of a frame's logits have in common does not count, however large it is.
BOOST_AUTO_TEST_CASE(large_logits) {
    const auto p = make_run<listener<4, 3, 2, 0>, sum_of_outputs, as_fused, 1>();
    const auto run = [&](double common) {
        doubles z({1, 4, 3});
        for (int i = 0; i < 12; ++i) z[i] = common + i * 5 % 7 - 3;
        p->set(p->parameters[0], doubles({4, 3}));
        p->run(1, {z, doubles({1, 2}, {1, 2}), doubles({1}, 4)});
        const auto g = p->gradient(0);
        doubles r({13}, p->output(0, 1)[0]);
        for (int i = 0; i < 12; ++i) r[i] = static_cast<double>(g[static_cast<std::size_t>(i)]);
        return r;
    };
    const doubles want = run(0);
    for (double common : {1e3, -1e5, 0x1p23}) {
        const doubles got = run(common);
        for (int i = 0; i < 13; ++i) BOOST_TEST(got[i] == want[i]);
    }
}
BOOST_AUTO_TEST_CASE(what_cannot_be_said_and_what_is_not_finite) {
    const auto p = make_run<listener<3, 3, 2, 0>, sum_of_outputs, as_fused, 1>();
    const auto loss = [&](std::vector<double> z, std::vector<double> labels, double length) {
        p->set(p->parameters[0], doubles({3, 3}));
        p->run(1, {doubles({1, 3, 3}, std::move(z)), doubles({1, 2}, std::move(labels)), doubles({1}, length)});
        return p->output(0, 1)[0];
    };
    const std::vector<double> even(9);
    BOOST_TEST(loss(even, {-1, -1}, 3) == 3 * std::log(3.f), boost::test_tools::tolerance(1e-6f));   // blanks alone
    // what follows -1 is padding
    BOOST_TEST(loss(even, {-1, 1}, 3) == 3 * std::log(3.f), boost::test_tools::tolerance(1e-6f));
    BOOST_TEST(loss(even, {1, 1}, 3) == 3 * std::log(3.f), boost::test_tools::tolerance(1e-6f));     // 1 blank 1
    BOOST_TEST(loss(even, {-1, -1}, 0) == 0.f);
    using said_in = std::pair<std::vector<double>, double>;
    for (const auto& [labels, length] : {said_in({1, 2}, 1), {{1, 1}, 2}, {{1, -1}, 0}, {{0, 1}, 3}, {{3, 1}, 3}}) {
        BOOST_TEST(loss(even, labels, length) == INFINITY);
        for (float g : p->gradient(0)) BOOST_TEST(g == 0.f);
    }
    std::vector<double> without = even;   // class 2 is never said
    for (int t = 0; t < 3; ++t) without[static_cast<std::size_t>(3 * t + 2)] = -INFINITY;
    BOOST_TEST(loss(without, {1, -1}, 3) == -std::log(6 / 8.f), boost::test_tools::tolerance(1e-6f));
    for (float g : p->gradient(0)) BOOST_TEST(std::isfinite(g));
    BOOST_TEST(loss(without, {2, -1}, 3) == INFINITY);
    for (double bad : {double(INFINITY), double(NAN)}) {
        std::vector<double> z = even;
        z[4] = bad;
        BOOST_TEST(std::isnan(loss(z, {1, -1}, 3)));
        BOOST_TEST(std::isfinite(loss(z, {1, -1}, 1)));   // the second frame does not count
    }
}
