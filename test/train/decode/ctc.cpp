// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE ctc
#include <boost/test/unit_test.hpp>
#include <sinter/train/decode/ctc_beam.hpp>
#include <sinter/train/decode/ctc_greedy.hpp>

#include "support/doubles.hpp"

#include <map>

// Decoders against all paths of all frames, spelled out.
using namespace sinter;
using labels = std::vector<std::int32_t>;

struct every_path {
    std::map<labels, double> probability;
    labels of_best_path;
    every_path(const std::vector<float>& z, int frames, int classes, int blank) {
        std::vector<int> path(static_cast<std::size_t>(frames));
        double best = -1, all = 0;
        for (bool more = true; more;) {
            double p = 1;
            labels said;
            for (int t = 0, last = blank; t < frames; last = path[static_cast<std::size_t>(t++)]) {
                const int c = path[static_cast<std::size_t>(t)];
                p *= std::exp(static_cast<double>(z[static_cast<std::size_t>(t * classes + c)]));
                if (c != blank && c != last) said.push_back(c);
            }
            probability[said] += p, all += p;
            if (p > best) best = p, of_best_path = said;
            more = false;
            for (int t = 0; t < frames && !more; ++t) {
                more = ++path[static_cast<std::size_t>(t)] < classes;
                if (!more) path[static_cast<std::size_t>(t)] = 0;
            }
        }
        for (auto& [l, p] : probability) p /= all;
    }
};
static std::vector<float> drawn(int seed, int frames, int classes) {
    const test::doubles x = test::random_numbers(static_cast<std::uint64_t>(seed)).fill({frames, classes}, -2, 2);
    return {x.v.begin(), x.v.end()};
}

BOOST_AUTO_TEST_CASE(a_wide_beam_finds_all) {
    bool greedy_misses = false;
    for (int seed = 0; seed < 20; ++seed) {
        const int frames = 1 + seed % 6, classes = 2 + seed % 3, blank = seed % classes;
        const auto z = drawn(seed, frames, classes);
        const every_path want(z, frames, classes, blank);
        const auto got = decode::ctc_beam(z.data(), frames, classes, 100000, 100000, blank);
        BOOST_TEST_CONTEXT("seed " << seed) {
            BOOST_REQUIRE_EQUAL(got.size(), want.probability.size());
            for (std::size_t i = 0; i < got.size(); ++i) {
                BOOST_TEST(std::exp(got[i].log_probability) == want.probability.at(got[i].labels),
                           boost::test_tools::tolerance(1e-9));
                if (i) BOOST_TEST(got[i].log_probability <= got[i - 1].log_probability);
            }
            const labels greedy = decode::ctc_greedy(z.data(), frames, classes, blank);
            BOOST_TEST(greedy == want.of_best_path);
            greedy_misses = greedy_misses || greedy != got[0].labels;
        }
    }
    BOOST_TEST(greedy_misses);   // or else there would be no need for a beam
}
BOOST_AUTO_TEST_CASE(a_narrow_beam_keeps_the_best) {
    for (int seed = 0; seed < 20; ++seed) {
        const auto z = drawn(100 + seed, 6, 4);
        const every_path all(z, 6, 4, 0);
        const auto got = decode::ctc_beam(z.data(), 6, 4, 8, 3);
        BOOST_REQUIRE_EQUAL(got.size(), 3u);
        double best = 0;
        for (const auto& [l, p] : all.probability) best = std::max(best, p);
        // paths may be lost
        for (const auto& h : got) BOOST_TEST(std::exp(h.log_probability) <= all.probability.at(h.labels) * (1 + 1e-9));
        BOOST_TEST(all.probability.at(got[0].labels) > 0.8 * best);
    }
}
BOOST_AUTO_TEST_CASE(repetitions_and_blanks) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    auto certain = [&](const std::vector<int>& path) {
        std::vector<float> z(path.size() * 3, -inf);
        for (std::size_t t = 0; t < path.size(); ++t) z[3 * t + static_cast<std::size_t>(path[t])] = 2;
        return z;
    };
    for (const auto& [path, said] : {std::pair(std::vector<int>{1, 1, 0, 1, 2, 2}, labels{1, 1, 2}), {{0, 0}, {}},
                                     {{2, 1, 2}, {2, 1, 2}}, {{}, {}}}) {
        const auto z = certain(path);
        const int frames = static_cast<int>(path.size());
        BOOST_TEST(decode::ctc_greedy(z.data(), frames, 3) == said);
        const auto got = decode::ctc_beam(z.data(), frames, 3, 4, 4);
        BOOST_REQUIRE_EQUAL(got.size(), 1u);   // nothing else is possible
        BOOST_TEST(got[0].labels == said);
        BOOST_TEST(std::abs(got[0].log_probability) < 1e-12);
    }
}
BOOST_AUTO_TEST_CASE(refused) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (const auto& bad : {std::vector<float>{0, inf}, {0, std::numeric_limits<float>::quiet_NaN()}, {-inf, -inf}})
        BOOST_CHECK_THROW(decode::ctc_beam(bad.data(), 1, 2), data_error);
    const float z[2] = {};
    BOOST_CHECK_THROW(decode::ctc_beam(z, 1, 2, 0), option_error);
    BOOST_CHECK_THROW(decode::ctc_beam(z, 1, 2, 1, 0), option_error);
    BOOST_CHECK_THROW(decode::ctc_beam(z, 1, 2, 1, 1, 2), option_error);
}
