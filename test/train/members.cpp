// SPDX-License-Identifier: BSL-1.0
// shows members: NaN, metrics or signals on one member, uneven batches, another number of members: all end alike
#define BOOST_TEST_MODULE members
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "support/points.hpp"
#include "support/thread_members.hpp"
#include <cmath>
#include <fstream>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/stop_at.hpp>
#include <sinter/train/metrics.hpp>

// What the loop, evaluation and checkpoints do where several members train one model. The members are threads; what
// they must come to is what one trainer comes to on the same global batches.
using namespace sinter_test;
#ifndef SINTER_TEST_MEMBER
#define SINTER_TEST_MEMBER thread_member
#endif

static constexpr auto net = features<2> >> dense<4> >> relu >> dense<2>;

using sinter::test::points;
template <class Model>
static std::vector<float> weights(const Model& m) {
    std::vector<float> all;
    for (int i = 0; i < m.inner().parameters(); ++i)
        for (float v : m.inner().plain(m.inner().parameter(i))) all.push_back(v);
    return all;
}
static double furthest(const std::vector<float>& a, const std::vector<float>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    return most;
}
static auto optimizer() { return adam{.learning_rate = 0.05f}; }
static auto member_model(collective::communicator& g, bool own = false, member_counts* counts = nullptr) {
    return estimator{net, softmax_cross_entropy, optimizer(), SINTER_TEST_MEMBER({&g, own, counts}), {.threads = 1}};
}
struct outcome {
    std::vector<float> w;
    std::vector<epoch_result> history;
    std::int64_t steps = 0;
};

// One device is alone by its type, so that nothing of several members is compiled for it; members
// learn it when they run.
static_assert(sinter::detail::session_of<std::remove_cvref_t<
                  decltype(estimator{net, softmax_cross_entropy, adam{.learning_rate = 0.05f}}.inner())>>::alone);
static_assert(!sinter::detail::session_of<std::remove_cvref_t<
                  decltype(member_model(std::declval<collective::communicator&>()).inner())>>::alone);

BOOST_AUTO_TEST_CASE(as_one_trainer) {
    const auto train = [](auto& model, bool progress) {
        auto data = points(50, 3) | data::shuffle(20) | data::batch(8);
        auto held_out = points(31, 4) | data::batch(4);
        train_options o{.epochs = 4, .validation = &held_out, .progress = nullptr};
        o.metrics = {metrics::f1{}, metrics::auc{}, metrics::confusion_matrix{2}, metrics::top_k{1},
                     metrics::perplexity{}};
        (void)progress;
        return model.train(data, o);
    };
    estimator alone{net, softmax_cross_entropy, optimizer(), {.threads = 1}};
    const std::vector<epoch_result> want = train(alone, false);
    for (const int n : {2, 3}) {
        std::vector<outcome> got(static_cast<std::size_t>(n));
        const auto thrown = in_members(n, [&](int r, auto& g) {
            auto model = member_model(g);
            outcome& o = got[static_cast<std::size_t>(r)];
            o.history = train(model, r == 0);
            o.w = weights(model);
        });
        for (const std::string& t : thrown) BOOST_TEST(t == "");
        for (const outcome& o : got) {
            BOOST_TEST((o.w == got[0].w));
            BOOST_TEST(furthest(o.w, weights(alone)) < 1e-5);
            BOOST_REQUIRE(o.history.size() == want.size());
            for (std::size_t e = 0; e < want.size(); ++e) {
                const epoch_result &a = o.history[e], &b = want[e];
                BOOST_TEST(a.examples == b.examples);
                BOOST_TEST(a.training_accuracy == b.training_accuracy);
                BOOST_TEST(a.accuracy == b.accuracy);
                BOOST_TEST(a.loss == b.loss, boost::test_tools::tolerance(1e-5));
                BOOST_TEST(a.validation_loss == b.validation_loss, boost::test_tools::tolerance(1e-5));
                BOOST_TEST(a.loss == got[0].history[e].loss);
                BOOST_TEST(a.validation_loss == got[0].history[e].validation_loss);
                for (const char* m : {"val_f1", "val_auc", "val_top_k", "val_confusion_matrix"})
                    BOOST_TEST(a.value(m) == b.value(m), boost::test_tools::tolerance(1e-12));
                BOOST_TEST(a.value("val_perplexity") == b.value("val_perplexity"), boost::test_tools::tolerance(1e-5));
                const auto &x = a.as<metrics::confusion_matrix>("val_confusion_matrix"),
                           &y = b.as<metrics::confusion_matrix>("val_confusion_matrix");
                for (int t = 0; t < 2; ++t)
                    for (int p = 0; p < 2; ++p) BOOST_TEST(x.count(t, p) == y.count(t, p));
            }
        }
    }
}

// Members with 10, 9 and 7 batches, of which the last are smaller: each step's mean is over all
// examples there are, and nobody hangs.
BOOST_AUTO_TEST_CASE(batches_of_their_own) {
    constexpr int batches[] = {10, 9, 7}, members = 3, epochs = 3;
    const auto own = [&](int r) { return points(4 * batches[r] - r, 10 + static_cast<unsigned>(r)); };
    std::vector<outcome> got(members);
    const auto thrown = in_members(members, [&](int r, auto& g) {
        auto model = member_model(g, true);
        auto data = own(r) | data::batch(4);
        auto held_out = points(9 + r, 20 + static_cast<unsigned>(r)) | data::batch(4);
        outcome& o = got[static_cast<std::size_t>(r)];
        o.history = model.train(data, {.epochs = epochs, .validation = &held_out, .progress = nullptr});
        o.w = weights(model);
        o.steps = model.inner().steps();
    });
    for (const std::string& t : thrown) BOOST_TEST(t == "");
    // One trainer on what members have together at each step.
    estimator one{net, softmax_cross_entropy, optimizer(), {.threads = 1}};
    std::vector<data::dataset> sets;
    for (int r = 0; r < members; ++r) sets.push_back(own(r));
    for (int e = 0; e < epochs; ++e) {
        double sum = 0, n = 0;
        std::vector<std::vector<float>> x(10);
        std::vector<std::vector<std::int32_t>> y(10);
        for (int r = 0; r < members; ++r) {
            auto data = own(r) | data::batch(4);
            std::size_t k = 0;
            for (const data::batch_view& b : data) {
                x[k].insert(x[k].end(), b.x, b.x + 2 * b.size);
                y[k].insert(y[k].end(), b.labels, b.labels + b.size);
                ++k;
            }
        }
        for (std::size_t k = 0; k < 10; ++k) {
            const int size = static_cast<int>(y[k].size());
            sum +=
                static_cast<double>(one.inner().step({.x = x[k].data(), .labels = y[k].data(), .size = size})) * size;
            n += size;
        }
        for (const outcome& o : got) {
            BOOST_TEST(o.history[static_cast<std::size_t>(e)].loss == sum / n, boost::test_tools::tolerance(1e-5));
            BOOST_TEST(o.history[static_cast<std::size_t>(e)].examples == static_cast<std::int64_t>(n));
            BOOST_TEST(o.history[static_cast<std::size_t>(e)].validation_loss ==
                       got[0].history[static_cast<std::size_t>(e)].validation_loss);
        }
    }
    for (const outcome& o : got) {
        BOOST_TEST(o.steps == 10 * epochs);
        BOOST_TEST(furthest(o.w, weights(one)) < 1e-5);
        BOOST_TEST((o.w == got[0].w));
    }
}

// A reason that all share costs nothing; one that a single member has goes with a step.
BOOST_AUTO_TEST_CASE(stops) {
    member_counts counts;
    std::int64_t made[2] = {};
    const auto thrown = in_members(2, [&](int r, auto& g) {
        auto model = member_model(g, false, &counts);
        auto data = points(400, 3) | data::batch(2);
        model.train(data, {.max_steps = 150, .progress = nullptr}, stop_at({.step = 120}));
        made[r] = model.inner().steps();
    });
    BOOST_TEST(thrown[0] == "");
    for (const std::int64_t steps : made) BOOST_TEST(steps == 120);
    BOOST_TEST(counts.reductions <= 2 * 6);   // at the beginning and the end of 120 steps, by two members
    struct asks {
        int rank;
        std::string why{};
        void after_step(training_run& run, const data::batch_view&) {
            if (rank == 1 && run.step == 5) run.ask_to_stop("a reason of one");
            why = run.why_stopped();
        }
    };
    std::int64_t steps[3] = {};
    std::string why[3];
    in_members(3, [&](int r, auto& g) {
        auto model = member_model(g);
        auto data = points(400, 3) | data::batch(2);
        asks a{r};
        model.train(data, {.epochs = 1, .progress = nullptr}, a);
        steps[r] = model.inner().steps();
        why[r] = a.why;
    });
    for (int r = 0; r < 3; ++r) BOOST_TEST(steps[r] == 6);   // behind the step that the question went with
    BOOST_TEST(why[1] == "a reason of one");
    BOOST_TEST(why[0] != "");
}

namespace {
struct silent {   // does not list what it counts
    static constexpr const char* name = "silent";
    int n = 0;
    void add(const float*, const std::int32_t*, int rows, int) { n += rows; }
    double value() const { return n; }
};
} // namespace
// A metric on one member, or other options: an error on every one, and no hang.
BOOST_AUTO_TEST_CASE(what_differs_is_an_error) {
    const auto all_throw = [](const std::vector<std::string>& thrown, const char* text) {
        for (const std::string& t : thrown) BOOST_TEST(t.find(text) != t.npos, t);
    };
    all_throw(in_members(3, [](int r, auto& g) {
        auto model = member_model(g);
        auto test = points(30, 4) | data::batch(4);
        if (r == 1) model.evaluate(test, metrics::f1{});
        else model.evaluate(test);
    }), "members do not measure the same");
    all_throw(in_members(2, [](int r, auto& g) {
        auto model = member_model(g);
        auto data = points(30, 4) | data::batch(4);
        model.train(data, {.epochs = 1 + r, .progress = nullptr});
    }), "members do not train alike");
    all_throw(in_members(2, [](int, auto& g) {
        auto model = member_model(g);
        auto test = points(30, 4) | data::batch(4);
        model.evaluate(test, silent{});
    }), "does not list what it counts");
}

// A number that is not finite on one member: an error on every one, which says whose it is.
BOOST_AUTO_TEST_CASE(not_finite_somewhere) {
    const auto thrown = in_members(3, [](int r, auto& g) {
        auto model = member_model(g, true);
        std::vector<float> x(16, 0.5f);
        if (r == 1) x[9] = std::numeric_limits<float>::quiet_NaN();
        auto data = data::dataset(extents(2), x).labels(std::vector<std::int32_t>(8), 2) | data::batch(4);
        model.train(data, {.epochs = 1, .progress = nullptr});
    });
    for (const std::string& t : thrown) {
        BOOST_TEST(t.find("a batch has a number that is not") != t.npos, t);
        BOOST_TEST(t.find("member 1") != t.npos, t);
    }
}

/// Outside of train() nobody ends the others: all go to where they tell each other, and can go on together.
static std::string fault_of(auto f) {
    try {
        f();
    } catch (const error& e) {
        return e.what();
    }
    return "";
}
BOOST_AUTO_TEST_CASE(not_finite_in_an_evaluation) {
    std::vector<std::string> told(3), of_weights(3);
    std::vector<double> losses(3);
    const auto thrown = in_members(3, [&](int r, auto& g) {
        const auto at = static_cast<std::size_t>(r);
        auto model = member_model(g, true);
        const auto set = [](float x) {
            std::vector<float> all(16, 0.5f);
            all[9] = x;
            return data::dataset(extents(2), all).labels(std::vector<std::int32_t>(8), 2) | data::batch(4);
        };
        const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
        auto data = set(r == 1 ? nan : 0.5f), good = set(0.5f), infinite = set(r == 2 ? inf : 0.5f);
        told[at] = fault_of([&] { model.evaluate(data); });
        losses[at] = model.evaluate(good).loss;
        const std::vector<float> spoilt(8, nan);
        model.inner().set_plain(model.inner().parameter(0), spoilt.data());
        of_weights[at] = fault_of([&] { model.evaluate(infinite); });
    });
    for (std::size_t r = 0; r < 3; ++r) {
        BOOST_TEST(thrown[r] == "");
        const char* const wanted = r == 1 ? "evaluate, input 0, example 0" : "evaluate, member 1";
        BOOST_TEST(told[r].find(wanted) != told[r].npos, told[r]);
        BOOST_TEST(told[r].find("the batch has a number") != told[r].npos, told[r]);
        BOOST_TEST(losses[r] == losses[0]);
        BOOST_TEST(of_weights[r].find("evaluate, dense/kernel, number 0") != told[r].npos, of_weights[r]);
    }
    BOOST_TEST(std::isfinite(losses[0]));
}

// r2 merges means that do not add up; targets far from zero would show a sum of squares.
BOOST_AUTO_TEST_CASE(a_metric_that_does_not_add_up) {
    std::vector<float> x, y;
    for (int i = 0; i < 40; ++i) {
        x.push_back(static_cast<float>(i % 7));
        y.push_back(1000 + static_cast<float>(i * i % 11));
    }
    constexpr auto line = features<1> >> dense<1>;
    const auto measure = [&](auto& model) {
        auto test = data::dataset(extents(1), x).targets(extents(1), y) | data::batch(3);
        return model.evaluate(test, metrics::r2{}, metrics::mae{}, metrics::mse{});
    };
    estimator alone{line, mse, sgd{}, {.threads = 1}};
    const evaluation_result want = measure(alone);
    std::vector<std::vector<double>> got(3);   // Boost.Test keeps its tolerance in one place: no thread may check
    in_members(3, [&](int rank, auto& g) {
        estimator model{line, mse, sgd{}, SINTER_TEST_MEMBER({&g}), {.threads = 1}};
        const evaluation_result r = measure(model);
        for (const char* m : {"r2", "mae", "mse"})
            got[static_cast<std::size_t>(rank)].push_back(r.value(m) / want.value(m));
        got[static_cast<std::size_t>(rank)].push_back(static_cast<double>(r.examples) / 40);
    });
    for (const auto& own : got) {
        BOOST_TEST(own.size() == 4u);
        for (const double ratio : own) BOOST_TEST(ratio == 1, boost::test_tools::tolerance(1e-9));
    }
}

namespace {
constexpr auto random_net = features<2> >> dense<4> >> relu >> dropout<0.3f> >> dense<2>;
/// Stops the run behind a step as a killed process would.
struct dies_at {
    std::int64_t step;
    void after_step(training_run& run, const data::batch_view&) {
        if (run.step == step) throw std::runtime_error("killed");
    }
};
outcome part_of_a_run(collective::communicator& g, const std::string& folder, save_options saving, std::int64_t dies,
                      bool own) {
    estimator model{random_net, softmax_cross_entropy, optimizer(), SINTER_TEST_MEMBER({&g, own}), {.threads = 1}};
    const auto shift = own ? static_cast<unsigned>(g.rank()) : 0u;
    auto data = points(own ? 40 - 20 * g.rank() : 50, 3 + shift) | data::shuffle(20) | data::batch(8);
    auto held_out = points(30, 4) | data::shuffle(30) | data::batch(8);
    early_stop stop({.patience = 20});
    saving.resume = true;
    saving.keep = 3;
    outcome o;
    o.history = model.train(data, {.epochs = 5, .validation = &held_out, .progress = nullptr}, csv_log(folder + ".csv"),
                            stop, save_checkpoints(folder, saving), dies_at{dies});
    o.w = weights(model);
    o.steps = model.inner().steps();
    return o;
}
} // namespace

BOOST_AUTO_TEST_CASE(resumed_bitwise) {
    for (const bool own : {false, true}) {
        temporary_folder folder;
        outcome whole;
        in_members(2, [&](int r, auto& g) {
            outcome o = part_of_a_run(g, folder / "whole", {.every_steps = 4}, -1, own);
            if (r == 0) whole = o;
        });
        for (const std::int64_t dies : {1, 7, 13, 20}) {
            const std::string name = folder / std::to_string(dies).c_str();
            outcome first, again;
            in_members(2, [&](int r, auto& g) {
                outcome o = part_of_a_run(g, name, {.every_steps = 4}, dies, own);
                if (r == 0) first = o;
            });
            BOOST_TEST(first.w.empty());
            const auto thrown = in_members(2, [&](int r, auto& g) {
                outcome o = part_of_a_run(g, name, {.every_steps = 4}, -1, own);
                if (r == 1) again = o;
            });
            BOOST_TEST(thrown[0] == "");
            BOOST_TEST((again.w == whole.w));
            BOOST_TEST(again.steps == whole.steps);
            for (std::size_t e = 0; e < again.history.size(); ++e) {
                const epoch_result& a = again.history[again.history.size() - 1 - e];
                const epoch_result& b = whole.history[whole.history.size() - 1 - e];
                BOOST_TEST(a.loss == b.loss);
                BOOST_TEST(a.training_accuracy == b.training_accuracy);
                BOOST_TEST(a.validation_loss == b.validation_loss);
                BOOST_TEST(a.examples == b.examples);
            }
        }
    }
}

// The same files load on another number of members, also by one alone.
BOOST_AUTO_TEST_CASE(on_another_number_of_members) {
    temporary_folder folder;
    in_members(3, [&](int, auto& g) { part_of_a_run(g, folder / "run", {.every_steps = 4}, 14, false); });
    for (const int n : {1, 2, 4}) {
        std::filesystem::copy(folder / "run", folder / std::to_string(n).c_str());
        std::filesystem::copy_file(folder / "run.csv", folder / (std::to_string(n) + ".csv").c_str());
        std::vector<outcome> got(static_cast<std::size_t>(n));
        const auto thrown = in_members(n, [&](int r, auto& g) {
            got[static_cast<std::size_t>(r)] =
                part_of_a_run(g, folder / std::to_string(n).c_str(), {.every_steps = 4}, -1, false);
        });
        for (const std::string& t : thrown) BOOST_TEST(t == "");
        for (const outcome& o : got) {
            BOOST_TEST(o.steps == 35);
            BOOST_TEST(o.history.size() == 4u);   // of five: the first had ended
        }
    }
}

// Seconds are the chief's: another member's clock stands still, and all save at one step.
static double slow_clock() {
    static thread_local double t = 0;
    return t += 1;
}
BOOST_AUTO_TEST_CASE(seconds_are_the_chiefs) {
    temporary_folder folder;
    std::vector<std::int64_t> saved_at[2];
    struct notes {
        std::vector<std::int64_t>* to;
        void checkpoint_saved(training_run& run, const std::string&) { to->push_back(run.step); }
    };
    const auto thrown = in_members(2, [&](int r, auto& g) {
        auto model = member_model(g);
        auto data = points(100, 3) | data::batch(4);
        model.train(data, {.epochs = 1, .progress = nullptr},
                    save_checkpoints(folder / "run",
                                     {.every_seconds = 5, .keep = 2, .clock = r == 0 ? slow_clock : [] { return 0.; }}),
                    notes{&saved_at[r]});
    });
    BOOST_TEST(thrown[0] == "");
    BOOST_TEST((saved_at[0] == saved_at[1]));
    BOOST_TEST(saved_at[0].size() >= 4u);
}

// A member that is interrupted during validation: all leave it, save within the epoch, and the run goes on bitwise.
static std::atomic<bool> interrupted;
BOOST_AUTO_TEST_CASE(interrupted_during_validation) {
    temporary_folder folder;
    struct interrupts {
        int rank;
        std::int64_t at;
        void begin(training_run& run) {
            if (rank == 1 && at) run.stop_when([] { return interrupted.load(); });
        }
        void after_step(training_run& run, const data::batch_view&) {
            // behind the last step of an epoch, which asked for nothing
            if (rank == 1 && run.step == at) interrupted = true;
        }
    };
    const auto go = [&](const std::string& name, int r, auto& g, std::int64_t at) {
        auto model = member_model(g);
        auto data = points(32, 3) | data::shuffle(20) | data::batch(8);
        auto held_out = points(30, 4) | data::shuffle(30) | data::batch(8);
        outcome o;
        interrupts i{r, at};
        o.history = model.train(data, {.epochs = 3, .validation = &held_out, .progress = nullptr}, i,
                                save_checkpoints(folder / name.c_str(), {.resume = true}));
        o.w = weights(model);
        o.steps = model.inner().steps();
        return o;
    };
    outcome whole[2], first[2], rest[2];
    in_members(2, [&](int r, auto& g) { whole[r] = go("whole", r, g, 0); });
    interrupted = false;
    auto thrown = in_members(2, [&](int r, auto& g) { first[r] = go("stopped", r, g, 8); });
    BOOST_TEST(thrown[0] == "");
    for (const outcome& o : first) {
        BOOST_TEST(o.steps == 8);
        BOOST_TEST(o.history.size() == 1u);   // the second was not measured
    }
    interrupted = false;
    thrown = in_members(2, [&](int r, auto& g) { rest[r] = go("stopped", r, g, 0); });
    BOOST_TEST(thrown[0] == "");
    for (int r = 0; r < 2; ++r) {
        BOOST_TEST((rest[r].w == whole[r].w));
        BOOST_REQUIRE(rest[r].history.size() == 2u);
        for (std::size_t e = 0; e < 2; ++e) {
            BOOST_TEST(rest[r].history[e].loss == whole[r].history[e + 1].loss);
            BOOST_TEST(rest[r].history[e].validation_loss == whole[r].history[e + 1].validation_loss);
            BOOST_TEST(rest[r].history[e].training_accuracy == whole[r].history[e + 1].training_accuracy);
        }
    }
}
#undef SINTER_TEST_MEMBER
