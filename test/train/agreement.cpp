// SPDX-License-Identifier: BSL-1.0
// shows members: other data, seeds, rates, hooks or metrics: an error on all with both values
#define BOOST_TEST_MODULE agreement
#include <boost/test/unit_test.hpp>
#include "support/no_model.hpp"
#include "support/points.hpp"
#include "support/synchronous_members.hpp"
#include "support/thread_members.hpp"
#include <sinter/data/transform/augment.hpp>
#include <sinter/train/distribute.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/metrics.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/heavy_ball.hpp>

// What members that train one model must share is compared before the first step and before each pass, and what differs
// is named, with both values, on every member. The members are threads; with batches of their own data may differ.
using namespace sinter_test;
using sinter::test::points;

static constexpr auto net = features<2> >> dense<2>;

struct differing {
    data::pipeline data;
    float rate = 0.1f, momentum = 0.9f;
    train_options options{};
    int patience = 3;
    std::int64_t steps_before = 0;
    bool own = false;
};
static differing usual() { return {points(20, 3) | data::shuffle(20, 1) | data::batch(4)}; }
static void train(collective::communicator& g, differing d) {
    estimator model{net, softmax_cross_entropy,
                    heavy_ball{.learning_rate = cosine(d.rate, 100), .momentum_rate = d.momentum},
                    thread_member({&g, d.own, nullptr}), {.threads = 1}};
    model.inner().set_steps(d.steps_before);
    auto held_out = points(9, 4) | data::batch(4);
    d.options.progress = nullptr;
    d.options.validation = &held_out;
    early_stop stop({.patience = d.patience});
    model.train(d.data, d.options, stop);
}
/// Three members, of which the last has what `change` makes: all throw, and name this.
template <class Change>
static void needs(const char* name, const char* here, const char* there, Change change) {
    const auto thrown = in_members(3, [&](int r, auto& g) {
        differing d = usual();
        if (r == 2) change(d);
        train(g, std::move(d));
    });
    const std::string both = std::string(name) + ": rank 0 has " + here + ", rank 2 has " + there;
    for (const std::string& t : thrown) {
        BOOST_TEST(t.find("members do not train alike") != t.npos, t);
        BOOST_TEST(t.find(both) != t.npos, t + "\nneeded " + both);
    }
}

BOOST_AUTO_TEST_CASE(what_differs_is_named) {
    BOOST_TEST(in_members(3, [&](int, auto& g) { train(g, usual()); })[0] == "");
    needs("examples", "20", "19", [](differing& d) { d.data = points(19, 3) | data::shuffle(20, 1) | data::batch(4); });
    needs("batch size", "4", "5", [](differing& d) { d.data = points(20, 3) | data::shuffle(20, 1) | data::batch(5); });
    needs("seed", "1", "2", [](differing& d) { d.data = points(20, 3) | data::shuffle(20, 2) | data::batch(4); });
    needs("buffer", "20", "10", [](differing& d) { d.data = points(20, 3) | data::shuffle(10, 1) | data::batch(4); });
    needs("stage 2", "shuffle", "map", [](differing& d) {
        d.data = points(20, 3) | data::scale(2.f) | data::batch(4);
    });
    needs("drop_remainder", "no", "yes", [](differing& d) {
        d.data = points(20, 3) | data::shuffle(20, 1) | data::batch(4, {.drop_remainder = true});
    });
    needs("learning_rate, peak", "0.1", "0.2", [](differing& d) { d.rate = 0.2f; });
    needs("momentum_rate", "0.9", "0.8", [](differing& d) { d.momentum = 0.8f; });
    needs("epochs", "0", "2", [](differing& d) { d.options.epochs = 2; });
    needs("metrics", "none", "f1", [](differing& d) { d.options.metrics = {metrics::f1{}}; });
    needs("patience", "3", "4", [](differing& d) { d.patience = 4; });
    needs("steps made", "0", "7", [](differing& d) { d.steps_before = 7; });
    needs("examples read of this one", "0", "4", [](differing& d) { d.data.next(); });
}
// Other examples of the same number: the first and the last are looked at.
BOOST_AUTO_TEST_CASE(other_examples) {
    const auto thrown = in_members(2, [&](int r, auto& g) {
        differing d = usual();
        d.data = points(20, 3 + static_cast<unsigned>(r)) | data::shuffle(20, 1) | data::batch(4);
        train(g, std::move(d));
    });
    for (const std::string& t : thrown) BOOST_TEST(t.find("the first example (its hash)") != t.npos, t);
}
// A user's functions are told apart by their types, and by settings that they name.
namespace {
struct noise {
    float scale;
    void operator()(data::example& e) const { e.x[0] += scale; }
    void describe(description& d) const { d("noise", scale); }
};
} // namespace
BOOST_AUTO_TEST_CASE(functions) {
    const auto with = [](auto f) { return points(20, 3) | data::map(f) | data::batch(4); };
    const auto run = [&](auto a, auto b) {
        return in_members(2, [&](int r, auto& g) {
            differing d = usual();
            d.data = r ? with(b) : with(a);
            train(g, std::move(d));
        });
    };
    const auto one = [](data::example& e) { e.x[0] += 1; };
    const auto two = [](data::example& e) { e.x[0] += 2; };
    BOOST_TEST(run(one, one)[1] == "");
    for (const std::string& t : run(one, two)) BOOST_TEST(t.find("function: rank 0 has") != t.npos, t);
    for (const std::string& t : run(noise{1}, noise{2}))
        BOOST_TEST(t.find("noise: rank 0 has 1, rank 1 has 2") != t.npos, t);
}
// Each may have data of its own where the strategy says so; all else is still compared.
BOOST_AUTO_TEST_CASE(batches_of_their_own) {
    const auto own = [](int r, float rate) {
        differing d = usual();
        d.own = true;
        d.rate = rate;
        d.data = points(20 - r, 3) | data::shuffle(20, static_cast<std::uint64_t>(r)) | data::batch(4 + r);
        return d;
    };
    BOOST_TEST(in_members(2, [&](int r, auto& g) { train(g, own(r, 0.1f)); })[1] == "");
    for (const std::string& t : in_members(2, [&](int r, auto& g) { train(g, own(r, r ? 0.2f : 0.1f)); }))
        BOOST_TEST(t.find("learning_rate, peak: rank 0 has 0.1, rank 1 has 0.2") != t.npos, t);
}
// What a hook of one member changes between passes.
BOOST_AUTO_TEST_CASE(before_each_pass) {
    const auto thrown = in_members(2, [](int r, auto& g) {
        estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, thread_member({&g, false, nullptr}),
                        {.threads = 1}};
        auto data = points(20, 3) | data::batch(4);
        struct changes {
            sgd& rate;
            int rank;
            void epoch_end(training_run&) {
                if (rank == 1) rate.learning_rate = 0.05f;
            }
        } change{model.inner().optimizer(), r};
        model.train(data, {.epochs = 2, .progress = nullptr}, change);
    });
    for (const std::string& t : thrown)
        BOOST_TEST(t.find("learning_rate: rank 0 has 0.1, rank 1 has 0.05") != t.npos, t);
}
BOOST_AUTO_TEST_CASE(evaluation) {
    for (const bool own : {false, true}) {
        const auto thrown = in_members(2, [&](int r, auto& g) {
            estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, thread_member({&g, own, nullptr}),
                            {.threads = 1}};
            auto data = points(20 - r, 3) | data::batch(4);
            model.evaluate(data);
        });
        const std::string needed = "evaluation data: examples in a pass: rank 0 has 20, rank 1 has 19";
        for (const std::string& t : thrown) BOOST_TEST((own ? t.empty() : t.find(needed) != t.npos), t);
    }
}
// A loop of one's own.
BOOST_AUTO_TEST_CASE(a_loop_of_ones_own) {
    for (const bool rates : {true, false}) {
        const auto thrown = in_members(2, [&](int r, auto& g) {
            trainer model{net, softmax_cross_entropy, sgd{.learning_rate = rates && r ? 0.2f : 0.1f},
                          thread_member({&g, false, nullptr}), {.threads = 1}};
            auto data = points(rates ? 20 : 20 - r, 3) | data::batch(4);
            for (const data::batch_view& b : distribute(model, data)) model.step(b);
        });
        const char* const needed =
            rates ? "learning_rate: rank 0 has 0.1, rank 1 has 0.2" : "rank 0 has 20, rank 1 has 19";
        for (const std::string& t : thrown) BOOST_TEST(t.find(needed) != t.npos, t);
    }
}
// Steps by hand: batches of other sizes, before anything is updated.
BOOST_AUTO_TEST_CASE(batches_of_other_sizes) {
    const auto with = [](auto optimizer) {
        std::vector<float> after(3);
        const auto thrown = sinter::test::as_members(3, [&](const auto& member) {
            trainer model{net, softmax_cross_entropy, optimizer, member, trainer_options{.threads = 1}};
            const auto set = points(6, 3);
            const auto step = [&](int size) {
                model.step({.x = set.x().data(), .labels = set.labels().data(), .size = size});
            };
            step(6);
            const float before = model.plain(model.parameter(0))[0];
            try {
                step(4 + member.rank);   // 4, 5, 6: one has the mean of all
            } catch (...) {
                after[static_cast<std::size_t>(member.rank)] = model.plain(model.parameter(0))[0] - before;
                throw;
            }
        });
        for (const std::string& t : thrown)
            BOOST_TEST(t.find("rank 0 has 4 examples, rank 1 has 5, rank 2 has 6") != t.npos, t);
        for (const float x : after) BOOST_TEST(x == 0.f);
    };
    with(sgd{});
    with(accumulate<2>(sgd{}));
}
// One that ends its pass alone is told as that, by both, in the step in which it happens.
BOOST_AUTO_TEST_CASE(one_stops_alone) {
    const auto thrown = sinter::test::as_members(2, [&](const auto& member) {
        estimator model{net, softmax_cross_entropy, sgd{}, member, trainer_options{.threads = 1}};
        auto data = points(40, 3) | data::batch(4);
        struct stops {
            int rank;
            void after_step(training_run& run, const data::batch_view&) {
                if (rank == 1 && run.step == 3) run.stop("alone");
            }
        } stop{member.rank};
        model.train(data, {.epochs = 1, .progress = nullptr}, stop);
    });
    for (const std::string& t : thrown) {
        BOOST_TEST(t.find("rank 0 makes a step, and rank 1 none") != t.npos, t);
        BOOST_TEST(t.find("step 3") != t.npos, t);
    }
}
// A member that was started again makes the calls that others have made without it, and has their sums.
BOOST_AUTO_TEST_CASE(one_that_makes_the_calls_again) {
    struct member_session : test::no_session {
        double* recorded;
        bool again;
        member_session(double* r, bool a) : recorded(r), again(a) {}
        membership member() const override { return {again ? 2 : 0, 3}; }
        void reduce(sinter::span<double> x) override {
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = again ? recorded[i] : recorded[i] = 2 * x[i];
        }
    };
    double recorded[7];
    member_session both(recorded, false), again(recorded, true);
    const std::uint64_t hash = 0x1234'5678'9abc'def0;
    BOOST_TEST((training_parts::have_the_same(both, hash) == training_parts::likeness::all_alike));
    BOOST_TEST((training_parts::have_the_same(again, hash) == training_parts::likeness::all_alike));
    for (const int bit : {0, 20, 21, 41, 42, 62})
        BOOST_TEST((training_parts::have_the_same(again, hash ^ std::uint64_t{1} << bit) ==
                    training_parts::likeness::mine_differs));
}
