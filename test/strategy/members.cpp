// SPDX-License-Identifier: BSL-1.0
// shows members: P processes with B / P examples each train as one with B; so do batches of their own
// processors: 2
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// Members of a job train one model: as one device trains it, or each with batches of its own.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto words = indices<6> >> embedding<40, 5> >> flatten >> dense<16> >> relu >> dense<3>;
constexpr auto numbers = features<6> >> dense<16> >> batch_norm >> relu >> dense<3>;
const std::vector<int> uneven{12, 7, 12, 1, 2, 11};

template <class Net, class Loss, class Optimizer>
void as_single(Net n, Loss l, Optimizer o, const char* what, int members) {
    trainer one{n, l, o, max_batch<12>, {.threads = 1}};
    const std::vector<float> losses = train_on(one, 20, uneven), wanted = all_variables(one);
    std::vector<std::vector<float>> got(static_cast<std::size_t>(members)), told(got);
    const auto errors = as_members(members, [&](const auto& s) {
        trainer t{n, l, o, max_batch<12>, s, {.threads = 1}};
        told[static_cast<std::size_t>(s.rank)] = train_on(t, 20, uneven);
        got[static_cast<std::size_t>(s.rank)] = all_variables(t);
        const random_batch<typename decltype(t)::training> b(5, 7);
        t.step(b.view());
        if (t.last_step().examples != 7) throw std::runtime_error("examples of the whole batch");
    });
    for (std::size_t r = 0; r < got.size(); ++r) {
        BOOST_TEST(errors[r] == "");
        BOOST_TEST(furthest(got[r], wanted) < 1e-5, what << ", member " << r << " of " << members);
        BOOST_TEST(furthest(told[r], losses) < 1e-5, what);
        BOOST_TEST(same_bits(got[r], got[0]), what << ": members differ");
    }
}
/// A part of a batch as a batch of its own.
template <class P>
data::batch_view part_of(const random_batch<P>& b, int first, int size, data::input_view* columns) {
    data::batch_view v = b.view();
    int n = 0;
    const auto cut = [&](span<const data::input_view> from) {
        data::input_view* const begin = columns + n;
        for (data::input_view c : from) {
            if (c.values) c.values += first * c.width;
            if (c.indices) c.indices += first * c.width;
            columns[n++] = c;
        }
        return span<const data::input_view>(begin, from.size());
    };
    v.inputs = cut(v.inputs);
    v.targets = cut(v.targets);
    if (v.weights) v.weights += first * v.weight_width;
    v.size = size;
    return v;
}

} // namespace

BOOST_AUTO_TEST_CASE(members_train_as_one) {
    for (const int members : {2, 3}) {
        as_single(words, softmax_cross_entropy, adam{.learning_rate = 0.01f}, "words", members);
        as_single(words, weighted(softmax_cross_entropy), clip_by_global_norm{0.2f, sgd{.learning_rate = 0.1f}},
                  "weighted", members);
        as_single(words, softmax_cross_entropy, accumulate<3>(momentum{.learning_rate = 0.01f}), "accumulated",
                  members);
    }
}
BOOST_AUTO_TEST_CASE(replicas_share_tables) {
    trainer one{words, softmax_cross_entropy, adam{.learning_rate = 0.01f}, max_batch<12>, {.threads = 1}};
    trainer three{words, softmax_cross_entropy, adam{.learning_rate = 0.01f}, max_batch<12>, mirrored<3>{},
                  {.threads = 2}};
    train_on(one, 20, uneven);
    train_on(three, 20, uneven);
    BOOST_TEST(furthest(all_variables(three), all_variables(one)) < 1e-5);
}

// Ranks have 10, 9 and 7 examples, and then none: the means are those of 26.
BOOST_AUTO_TEST_CASE(batches_of_ones_own) {
    const auto loss = weighted(softmax_cross_entropy);
    using P = decltype(trainer{words, loss, sgd{}, max_batch<26>})::training;
    trainer one{words, loss, adam{.learning_rate = 0.01f}, max_batch<26>, {.threads = 1}};
    constexpr int size[] = {10, 9, 7}, first[] = {0, 10, 19}, steps[] = {10, 9, 7};
    std::vector<float> losses;
    for (int i = 0; i < 10; ++i) {   // the same batches, whole: those whose members still have some
        const random_batch<P> b(static_cast<std::uint64_t>(i), 26);
        data::input_view columns[4];
        losses.push_back(one.step(part_of(b, 0, i < 7 ? 26 : i < 9 ? 19 : 10, columns)));
    }
    std::vector<std::vector<float>> got(3), told(3);
    const auto errors = as_members(3, [&](const auto& s) {
        const auto r = static_cast<std::size_t>(s.rank);
        trainer t{words, loss, adam{.learning_rate = 0.01f}, max_batch<12>, s, {.threads = 1}};
        for (int i = 0;; ++i) {
            const random_batch<P> b(static_cast<std::uint64_t>(i), 26);
            data::input_view columns[4];
            const float l = t.step(i < steps[r] ? part_of(b, first[r], size[r], columns) : data::batch_view{});
            if (t.last_step().examples == 0) break;   // all have ended
            told[r].push_back(l);
        }
        got[r] = all_variables(t);
        if (t.steps() != 10) throw std::runtime_error("steps: " + std::to_string(t.steps()));
    }, batch_input::per_worker);
    for (std::size_t r = 0; r < 3; ++r) {
        BOOST_TEST(errors[r] == "");
        BOOST_TEST(furthest(told[r], losses) < 1e-5);
        BOOST_TEST(furthest(got[r], all_variables(one)) < 1e-5);
        BOOST_TEST(same_bits(got[r], got[0]));
    }
}

// A loss that is not finite on one member changes nothing on any; one that asks to stop stops all.
BOOST_AUTO_TEST_CASE(what_one_member_has) {
    std::vector<std::string> seen(3);
    const auto errors = as_members(3, [&](const auto& s) {
        trainer t{numbers, mse, adam{}, max_batch<12>, s, {.threads = 1}};
        using P = typename decltype(t)::training;
        train_on(t, 3, {12});
        const std::vector<float> before = all_variables(t);
        random_batch<P> b(7, 5);
        std::vector<float> bad(5 * 6, 0.5f);
        if (s.rank == 1) bad[3] = NAN;
        const data::input_view in{bad.data(), nullptr, 6};
        data::batch_view v = b.view();
        v.inputs = {&in, 1};
        std::string& what = seen[static_cast<std::size_t>(s.rank)];
        what += std::isfinite(t.step(v)) ? "finite " : "nan ";
        what += same_bits(all_variables(t), before) ? "whole " : "changed ";
        t.ask_members(s.rank == 2, false);
        t.step(b.view());
        what += t.last_step().stop ? "stop " : "on ";
        t.ask_members(false, s.rank == 1);
        t.step(b.view());
        what += t.last_step().stop ? "stop " : "on ";
        what += t.last_step().save ? "save" : "none";
    }, batch_input::per_worker);
    for (int r = 0; r < 3; ++r) {
        BOOST_TEST(errors[static_cast<std::size_t>(r)] == "");
        BOOST_TEST(seen[static_cast<std::size_t>(r)] == "nan whole stop on save");
    }
}

// A batch that does not fit on one member is an error on all: none waits for ever.
BOOST_AUTO_TEST_CASE(a_batch_that_does_not_fit) {
    const auto errors = as_members(2, [&](const auto& s) {
        trainer t{numbers, mse, adam{}, max_batch<12>, s, {.threads = 1}};
        const random_batch<typename decltype(t)::training> b(1, 12);
        data::batch_view v = b.view();
        if (s.rank == 1) v.targets = {};
        t.step(v);
    }, batch_input::per_worker);
    for (const std::string& e : errors) BOOST_TEST(e.find("targets") != std::string::npos, e);
}

// Members begin with the chief's weights, and have what the chief writes.
BOOST_AUTO_TEST_CASE(all_have_the_chiefs_weights) {
    std::vector<std::vector<float>> got(3);
    const auto errors = as_members(3, [&](const auto& s) {
        trainer t{numbers, mse, adam{}, max_batch<12>, s,
                  {.threads = 1, .seed = static_cast<std::uint64_t>(s.rank) + 1}};
        got[static_cast<std::size_t>(s.rank)] = all_variables(t);
    });
    trainer chief{numbers, mse, adam{}, max_batch<12>, {.threads = 1, .seed = 1}};
    for (std::size_t r = 0; r < 3; ++r) BOOST_TEST(same_bits(got[r], all_variables(chief)), errors[r]);
}
