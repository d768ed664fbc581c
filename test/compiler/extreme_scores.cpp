// SPDX-License-Identifier: BSL-1.0
// shows numbers: softmax, cross entropies, CTC, sampled losses and attention at any finite scores
#define BOOST_TEST_MODULE extreme_scores
#include <boost/test/unit_test.hpp>

#include <random>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

/// Random scores of any finite size, masks among them, through attention and softmax: results and
/// gradients, fused and not, against doubles that subtract the maximum first.
using namespace sinter;

namespace {

constexpr int keys = 37, queries = 9;   ///< queries all ask the same, for whole tiles

constexpr tensor scores(tensor x) { return parameter(x, "scores", extents(keys, 1), zeros); }
constexpr tensor values(tensor x) { return parameter(x, "values", extents(keys, 1), zeros); }
constexpr auto by_attention = array<queries, 1> >> [](tensor x) {   // heads of one element: q k is a score as it is
    const auto each = [](tensor t) { return ops::broadcast_to(t, batch_of(keys, 1)); };
    return ops::attention(x, each(scores(x)), each(values(x)));
};
constexpr auto by_softmax = array<queries, 1> >> [](tensor x) {
    const tensor p = ops::softmax(x * ops::reshape(scores(x), extents(1, keys)));
    return ops::sum(p * ops::reshape(values(x), extents(1, keys)), {-1}, keep::yes);
};
std::vector<float> random_scores(std::mt19937& random) {
    std::uniform_real_distribution<float> unit(-1, 1);
    const auto chance = [&](unsigned n) { return random() % n == 0; };
    const float size = std::pow(10.f, 15.f * (unit(random) + 1.f)), base = chance(2) ? size * unit(random) : 0.f;
    const float hidden = chance(2) ? -1e9f : -size;
    const bool all = chance(4);   // are masked: then they count as they do without a mask
    std::vector<float> s;
    for (int k = 0; k < keys; ++k) {
        const float apart = chance(2) ? 3.f * unit(random) : static_cast<float>(random() % 3);
        s.push_back(all || chance(4) ? hidden + (chance(2) ? apart : 0.f) : base + apart);
    }
    return s;
}

template <class Net>
struct model {
    template <program_options O>
    using of = trainer<Net, decltype(mse), sgd, build_options{1, O}>;
    of<program_options{.store_gradients = true}> fused{sgd{.learning_rate = 0.f}, {.threads = 1}};
    of<program_options{.fuse = false, .store_gradients = true}> apart{sgd{.learning_rate = 0.f}, {.threads = 1}};
};

template <class Net>
void check(const char* what, Net) {
    model<Net> m;
    std::mt19937 random(5);
    std::uniform_real_distribution<float> unit(-1, 1);
    for (int example = 0; example < 100; ++example) {
        const std::vector<float> s = random_scores(random), x(queries, 1.f), target(queries, 0.25f);
        std::vector<float> v;
        for (int k = 0; k < keys; ++k) v.push_back(unit(random));
        double most = s[0], sum = 0, y = 0;
        for (float e : s) most = std::max(most, static_cast<double>(e));
        std::vector<double> p;
        for (float e : s) p.push_back(std::exp(static_cast<double>(e) - most)), sum += p.back();
        for (std::size_t k = 0; k < p.size(); ++k) p[k] /= sum, y += p[k] * static_cast<double>(v[k]);
        const auto compare = [&](const char* options, auto& t) {
            for (int i = 0; i < t.parameters(); ++i)
                t.set_plain(t.parameter(i), (t.path(t.parameter(i)) == "scores" ? s : v).data());
            const data::batch_view b{.x = x.data(), .y = target.data(), .size = 1};
            const double got = static_cast<double>(t.predict(b)[queries - 1]);
            BOOST_TEST(std::abs(got - y) <= 2e-6,
                       what << options << ", example " << example << ": " << got << ", not " << y);
            t.step(b);
            for (int i = 0; i < t.parameters(); ++i) {
                const bool of_scores = t.path(t.parameter(i)) == "scores";
                const auto gradient = t.gradient(t.parameter(i));
                double worst = 0;
                for (std::size_t k = 0; k < p.size(); ++k) {
                    const double factor = of_scores ? static_cast<double>(v[k]) - y : 1.,
                        want = 2 * (y - 0.25) * p[k] * factor;
                    worst = std::max(worst, std::abs(static_cast<double>(gradient[k]) - want));
                }
                BOOST_TEST(worst <= 1e-5, what << options << ", example " << example << ": gradient of "
                                               << t.path(t.parameter(i)) << " is off by " << worst);
            }
        };
        compare(", fused", m.fused);
        compare(", unfused", m.apart);
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(attention_of_extreme_scores) { check("attention", by_attention); }
BOOST_AUTO_TEST_CASE(softmax_of_extreme_scores) { check("softmax", by_softmax); }
