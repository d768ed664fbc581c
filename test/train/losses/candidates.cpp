// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE candidates
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/nce.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>

#include "fixtures/losses.hpp"
#include "support/check_net.hpp"

// Sampled losses: their formulas with given candidates, what is drawn, and the faults of nets that do not fit.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;
constexpr int V = 11, K = 6, E = 3;

constexpr shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
enum class which { softmax, nce, nce_with_hits };

/// Two places an example, whose labels and candidates are inputs; of different candidates, so is the number of tries.
template <which W, bool Unique = false>
struct given_candidates {
    static constexpr bundle trace(graph& g) {
        const shape s[] = {batch_of(2, E), whole(batch_of(2)), whole(extents(K)), extents()};
        tensor in[4];
        for (int i = 0; i < 3 + Unique; ++i) g.inputs.push((in[i] = make<op::input>(&g, s[i], {}, {i})).id);
        const tensor x = in[0] * parameter(in[0], "x", extents(2, E), ones);
        const auto scored = sinter::detail::score_candidates(x, in[1], {in[2], in[3]},
                                                             parameter(x, "vectors", extents(V, E), ones),
                                                             parameter(x, "bias", extents(V, 1), ones));
        if constexpr (W == which::softmax) return sinter::detail::sampled_softmax_value(scored);
        else return sinter::detail::nce_value<W == which::nce>(scored);
    }
    static std::vector<doubles> reference(const std::vector<doubles>& parameters, const std::vector<doubles>& inputs) {
        const doubles x = map(inputs[0], parameters[0], [](double a, double b) { return a * b; }), &labels = inputs[1];
        doubles y(labels.d);
        auto score = [&](int row, int c) {
            const double p = std::log((c + 2.) / (c + 1.)) / std::log(V + 1.);
            double sum = parameters[2][c] - std::log(K * p);
            for (int e = 0; e < E; ++e) sum += x[row * E + e] * parameters[1][c * E + e];
            return sum;
        };
        for (int r = 0; r < y.size(); ++r) {
            const int label = static_cast<int>(labels[r]);
            const double right = score(r, label);
            double all = std::exp(right), nce = std::log(1 + std::exp(-right));
            for (int k = 0; k < K; ++k) {
                const int c = static_cast<int>(inputs[2][k]);
                if (c != label) all += std::exp(score(r, c));
                if (c != label || W == which::nce_with_hits) nce += std::log(1 + std::exp(score(r, c)));
            }
            y[r] = W == which::softmax ? std::log(all) - right : nce;
        }
        return {y};
    }
};
BOOST_AUTO_TEST_CASE(formulas) {   // with eleven classes some candidates hit the label
    check_net<programs::all>(given_candidates<which::softmax>{}, given_candidates<which::softmax>::reference);
    check_net<programs::fused_only>(given_candidates<which::nce>{}, given_candidates<which::nce>::reference);
    check_net<programs::fused_only>(given_candidates<which::nce_with_hits>{},
                                    given_candidates<which::nce_with_hits>::reference);
}

static doubles list(std::vector<int> d, const auto& x) {
    return doubles(std::move(d), std::vector<double>(std::begin(x), std::end(x)));
}
template <which W, bool Unique = false>
static void check_recorded(const double (&want)[4]) {
    namespace golden = fixture::losses;
    const auto p = make_run<given_candidates<W, Unique>, weigh_outputs, as_fused, 2, program_mode::prediction>();
    p->set(p->parameters[1], list({V, E}, golden::sampled_vectors));
    p->set(p->parameters[2], list({V, 1}, golden::sampled_bias));
    std::vector inputs{list({2, 2, E}, golden::sampled_x), list({2, 2}, golden::sampled_labels),
                       Unique ? list({K}, golden::unique_candidates) : list({K}, golden::sampled_candidates)};
    if (Unique) inputs.push_back(list({}, golden::unique_tries));
    p->run(2, inputs);
    check_close(p->output(0, 2), list({2, 2}, want), 2e-6, "losses");
}
BOOST_AUTO_TEST_CASE(as_tensorflow) {
    check_recorded<which::softmax>(fixture::losses::sampled_softmax);
    check_recorded<which::nce>(fixture::losses::nce);
    check_recorded<which::nce_with_hits>(fixture::losses::nce_with_hits);
    check_recorded<which::softmax, true>(fixture::losses::unique_sampled_softmax);
    check_recorded<which::nce, true>(fixture::losses::unique_nce);
}

constexpr int many = 2000, most_classes = 30;
struct drawn_candidates {
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(1), {}, {0});
        g.inputs.push(x.id);
        return ops::to_float(sinter::detail::log_uniform_candidates(&g, many, most_classes).classes) +
            0.f * sum(x, {batch_axis});
    }
};
BOOST_AUTO_TEST_CASE(log_uniform) {
    const auto p = make_run<drawn_candidates, weigh_outputs, as_fused, 1, program_mode::prediction>();
    double counts[most_classes] = {}, chi_square = 0;
    std::vector<float> first;
    for (int step = 0; step < 10; ++step) {
        p->run(1, {doubles({1, 1})}, step);
        const auto drawn = p->output(0, 1);
        if (step == 0) first = drawn;
        else BOOST_TEST((drawn != first));   // anew in each step
        for (float c : drawn) {
            BOOST_REQUIRE((c >= 0 && c < most_classes && c == std::floor(c)));
            ++counts[static_cast<int>(c)];
        }
    }
    for (int c = 0; c < most_classes; ++c) {
        const double expected = 10 * many * std::log((c + 2.) / (c + 1.)) / std::log(most_classes + 1.);
        chi_square += (counts[c] - expected) * (counts[c] - expected) / expected;
    }
    BOOST_TEST(chi_square < 60);   // of 29 degrees of freedom: a thousandth is above 58
    p->run(1, {doubles({1, 1})}, 0);
    BOOST_TEST((p->output(0, 1) == first));
}

constexpr int few = 5, small = 9;
struct drawn_once {   // the classes and the number of tries
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(1), {}, {0}), zero = 0.f * sum(x, {batch_axis});
        g.inputs.push(x.id);
        const auto drawn = sinter::detail::unique_log_uniform_candidates(&g, few, small);
        return outputs(ops::to_float(drawn.classes) + zero, drawn.tries + zero);
    }
};
/// Against drawing one by one and looking whether it was there: how often each class comes, comes
/// first, and how many draws that takes.
BOOST_AUTO_TEST_CASE(unique_as_by_drawing_again) {
    const auto p = make_run<drawn_once, weigh_outputs, as_fused, 1, program_mode::prediction>();
    constexpr int steps = 20'000;
    double got[2 * small + 2] = {}, want[2 * small + 2] = {};
    random_stream random(9, 0);
    for (int step = 0; step < steps; ++step) {
        p->run(1, {doubles({1, 1})}, step);
        const auto classes = p->output(0, 1), tries = p->output(1, 1);
        unsigned seen = 0;
        for (float c : classes) {
            BOOST_REQUIRE((c >= 0 && c < small && !(seen >> static_cast<int>(c) & 1)));
            seen |= 1u << static_cast<int>(c);
            got[static_cast<int>(c)] += 1. / steps;
        }
        got[small + static_cast<int>(classes[0])] += 1. / steps;
        got[2 * small] += static_cast<double>(tries[0]) / steps;
        got[2 * small + 1] += (tries[0] == few) * 1. / steps;
        int count = 0, draws = 0;
        for (seen = 0; count < few; ++draws) {
            const int c = static_cast<int>(std::exp(static_cast<double>(random.uniform()) * std::log(small + 1.)) - 1);
            if (seen >> c & 1) continue;
            if (seen == 0) want[small + c] += 1. / steps;
            seen |= 1u << c;
            want[c] += 1. / steps;
            ++count;
        }
        want[2 * small] += static_cast<double>(draws) / steps;
        want[2 * small + 1] += (draws == few) * 1. / steps;
    }
    for (int i = 0; i < 2 * small + 2; ++i)   // of shares, five deviations of a difference are 0.025 at the most
        BOOST_TEST(std::abs(got[i] - want[i]) < (i == 2 * small ? 0.25 : 0.025),
                   i << ": " << got[i] << ", needed " << want[i]);
}
