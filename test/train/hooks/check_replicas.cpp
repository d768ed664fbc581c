// SPDX-License-Identifier: BSL-1.0
// shows members: a bit flipped in one member's weights names its rank
#define BOOST_TEST_MODULE check_replicas
#include <boost/test/unit_test.hpp>
#include "support/thread_members.hpp"
#include <sinter/train/hooks/check_replicas.hpp>
#include <bit>
#include <cmath>

using namespace sinter_test;

static constexpr auto net = features<2> >> dense<4> >> relu >> dense<2>;

static data::dataset points() {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    random_stream random(3);
    for (int i = 0; i < 64; ++i) {
        x.insert(x.end(), {random.uniform(), random.uniform()});
        labels.push_back(i % 2);
    }
    return data::dataset(extents(2), std::move(x)).labels(std::move(labels), 2);
}

/// Flips the lowest bit of one weight of this member alone, behind a step.
struct flip_a_bit {
    std::int64_t at;
    template <class Run>
    void after_step(Run& run, const data::batch_view&) {
        if (run.step != at) return;
        const auto& v = run.model.parameter(run.model.parameters() - 1);
        float x = 0;
        run.model.session().read(v.at, &x, 1);
        x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ 1u);
        run.model.session().write(v.at, &x, 1);
    }
};

/// What each of n members says where rank `odd` has a bit flipped behind step 5; -1: nobody.
static std::vector<std::string> said(int n, int odd, std::int64_t every) {
    return in_members(n, [&](int r, collective::communicator& g) {
        estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, thread_member({&g}), {.threads = 1}};
        auto data = points() | data::batch(8);
        check_replicas check(every);
        flip_a_bit flip{r == odd ? 5 : -1};
        model.train(data, {.epochs = 2, .progress = nullptr}, flip, check);
    });
}

BOOST_AUTO_TEST_CASE(equal_members_go_on) {
    for (const std::string& s : said(3, -1, 1)) BOOST_TEST(s == "");
}
BOOST_AUTO_TEST_CASE(one_bit_names_its_rank) {
    for (int odd = 0; odd < 3; ++odd)
        for (const std::string& s : said(3, odd, 4)) {
            BOOST_TEST(s.find("got rank " + std::to_string(odd)) != s.npos, s);
            BOOST_TEST(s.find("step 8") != s.npos, s);
        }
}
BOOST_AUTO_TEST_CASE(of_two_both_are_named) {
    for (const std::string& s : said(2, 1, 5)) BOOST_TEST(s.find("got rank 0, rank 1") != s.npos, s);
}
BOOST_AUTO_TEST_CASE(every_bit_and_every_place_counts) {
    std::vector<float> x(37);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
    const auto hash = [&] { return base::checksum::of(as_bytes(x)); };
    const std::uint64_t whole = hash();
    for (float& v : x)
        for (int bit = 0; bit < 32; ++bit) {
            const float kept = v;
            v = std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) ^ 1u << bit);
            BOOST_TEST(hash() != whole);
            v = kept;
        }
    std::swap(x[3], x[11]);
    BOOST_TEST(hash() != whole);
}
BOOST_AUTO_TEST_CASE(settings) { BOOST_CHECK_THROW(check_replicas(0), option_error); }
