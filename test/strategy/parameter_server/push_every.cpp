// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/layers/embedding_bag.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/expr/initialized.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>
#include <cmath>
#include <algorithm>
#include <sstream>

// Several steps of one push, with tables: the mean gradient of two batches is that of both as one, of which a trainer
// on one device makes a step. Rows that either names are updated once.
using namespace sinter;

namespace {

constexpr int batch = 6, rows = 40, width = 4, updates = 10;

struct examples {
    std::int32_t words[2 * updates * batch * width], labels[2 * updates * batch];
    std::int64_t keys[2 * updates * batch * width];
    examples() {
        random_stream r(11);
        for (std::int32_t& w : words) w = static_cast<int>(r.word() % rows);
        for (std::int32_t& l : labels) l = static_cast<int>(r.word() % 5);
        for (std::size_t i = 0; i < std::size(keys); ++i) keys[i] = (words[i] - rows / 2) * 0x0123456789abcdefll;
    }
};
const examples all;

template <bool Keys = false, class Trainer>
float step(Trainer& t, int i, int size) {
    const std::int32_t* const words = all.words + i * size * width;
    const data::input_view in =
        Keys ? data::input_view{nullptr, reinterpret_cast<const std::int32_t*>(all.keys + i * size * width), 2 * width}
             : data::input_view{nullptr, words, width};
    return t.step({.labels = all.labels + i * size, .size = size, .inputs = {&in, 1}});
}
template <class Trainer>
std::string weights(const Trainer& t) {
    std::string values;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float x : t.plain(t.parameter(i))) values += base::general_text(static_cast<double>(x), 9) + " ";
    return values;
}
/// The largest difference of two lists of numbers; infinite where they are not as many.
double furthest(const std::string& a, const std::string& b) {
    std::istringstream x(a), y(b);
    double u = 0, v = 0, most = 0;
    int n = 0;
    for (; x >> u && y >> v; ++n) most = std::max(most, std::abs(u - v) / std::max(1., std::abs(u)));
    return n < 100 || x >> u || y >> v ? INFINITY : most;
}

template <class Net, class Optimizer>
void as_one_batch(const char* what, Net net, Optimizer o) {
    trainer one{net, softmax_cross_entropy, o, max_batch<2 * batch>, {.threads = 1}};
    const std::string before = weights(one);
    for (int i = 0; i < updates; ++i) step(one, i, 2 * batch);
    const std::string expected = weights(one);
    server_job job(1, 3);
    job.start_all([=](const cluster& c) -> std::string {
        trainer t{net, softmax_cross_entropy, o, max_batch<batch>,
                  parameter_server<async>{c, {.pull_every = 2, .push_every = 2}}, {.threads = 1}};
        if (t.has_served()) return "served";
        for (int i = 0; i < 2 * updates; ++i) step(t, i, batch);
        t.end_training();
        return t.steps() == updates ? weights(t) : to_text({t.steps(), " updates"});
    });
    const std::string found = job.result(0);
    BOOST_TEST(furthest(expected, before) > 0.01, what);
    BOOST_TEST(furthest(expected, found) < 2e-5,
               what << ": " << furthest(expected, found) << " " << found.substr(0, 200));
    for (int i = 1; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
}
constexpr auto words = indices<width> >> embedding<rows, 6> >> flatten >> dense<5>;
constexpr auto bag = indices<width> >> embedding_bag<rows, 5, combine::mean> >> dense<5>;

BOOST_AUTO_TEST_CASE(two_steps_of_one_push_are_one_step_on_both_batches) {
    as_one_batch("sgd", words, sgd{.learning_rate = 0.3f});
    as_one_batch("adam", words, adam{.learning_rate = 0.01f});
    as_one_batch("bag", bag, adagrad{.learning_rate = 0.1f});
    as_one_batch("clipped", words, clip_by_global_norm{0.05f, sgd{.learning_rate = 1.f}});
}

constexpr auto by_key = keys<width> >> initialized<constant_of(0.125f), "*/table">(
                            hashed_embedding<6, hashed_options{.most_rows = 200}>) >> flatten >> dense<5>;
constexpr auto by_number =
    indices<width> >> initialized<constant_of(0.125f), "*/table">(embedding<rows, 6>) >> flatten >> dense<5>;

/// Keys of 64 bits go to their servers as rows of known numbers do.
BOOST_AUTO_TEST_CASE(so_do_rows_of_hashed_tables) {
    const auto run = []<bool Keys>(std::bool_constant<Keys>, auto net) {
        server_job job(1, 3);
        job.start_all([=](const cluster& c) -> std::string {
            trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>,
                      parameter_server<async>{c, {.push_every = 2}}, {.threads = 1}};
            if (t.has_served()) return "served";
            std::string losses;
            for (int i = 0; i < 2 * updates; ++i)
                losses += base::general_text(static_cast<double>(step<Keys>(t, i, batch)), 9) + " ";
            return losses;
        });
        return job.result(0);
    };
    BOOST_TEST(run(std::true_type{}, by_key) == run(std::false_type{}, by_number));
}

constexpr auto scores = indices<width> >> embedding<rows, 6> >> flatten >> candidate_scores<5>;

/// Candidates are those of a step of one's own, also within one push: the weights behind it are the mean of what a
/// step by either makes of the first ones.
BOOST_AUTO_TEST_CASE(each_step_of_a_push_draws_its_own_candidates) {
    const auto after = [](int number) {
        trainer t{scores, sampled_softmax<5, 2>, sgd{.learning_rate = 0.5f}, max_batch<batch>, {.threads = 1}};
        t.set_steps(number);
        step(t, number, batch);
        return weights(t);
    };
    std::istringstream a(after(0)), b(after(1));
    std::string mean;
    for (double x = 0, y = 0; a >> x && b >> y;) mean += base::general_text(0.5 * (x + y), 9) + " ";
    server_job job(1, 2);
    job.start_all([](const cluster& c) -> std::string {
        trainer t{scores, sampled_softmax<5, 2>, sgd{.learning_rate = 0.5f}, max_batch<batch>,
                  parameter_server<async>{c, {.push_every = 2}}, {.threads = 1}};
        if (t.has_served()) return "served";
        for (int i = 0; i < 2; ++i) step(t, i, batch);
        t.end_training();
        return weights(t);
    });
    const std::string found = job.result(0);
    BOOST_TEST(furthest(mean, found) < 1e-5, furthest(mean, found) << " " << found.substr(0, 200));
}

}   // namespace
