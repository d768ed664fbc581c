// SPDX-License-Identifier: BSL-1.0
// shows servers: files, averages, clipping, frozen parameters, loads amid training: one worker has one device's bits
// weighs: 3
// needs: distributed
#include "job.hpp"
#include "io/temporary_folder.hpp"
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sinter/base/decimal.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/train/hooks/reduce_on_plateau.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>

// What a trainer reads and writes through its servers: files, averages, frozen parameters, a rate that a hook
// lowers. One asynchronous worker does what one device does, to the bit.
using namespace sinter;

namespace {

constexpr auto net = features<8> >> named<"first">(dense<16>) >> relu >> named<"middle">(dense<16>) >> relu >> dense<3>;
constexpr int batch = 8;
constexpr auto optimizer() {
    return clip_by_global_norm{
        0.5f,
        moving_average{0.9f, parameter_groups{adam{.learning_rate = 1e-2f},
                                              group_of<"*/bias">(sgd{.learning_rate = 0.1f}), frozen<"middle/*">}}};
}
struct examples {
    std::vector<float> x = std::vector<float>(40 * 8);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(40);
    examples() {
        random_stream r(3);
        for (float& v : x) v = r.normal();
        for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r.word() % 3);
    }
    batch_view at(int i) const {
        return {.x = x.data() + i % 5 * batch * 8, .labels = labels.data() + i % 5 * batch, .size = batch};
    }
};

/// Steps, averages, a file that is loaded again, and steps behind it.
template <class Strategy>
std::string story(const Strategy& s, const std::string& file) {
    const examples e;
    trainer t{net, softmax_cross_entropy, optimizer(), max_batch<batch>, s, {.threads = 1}};
    if (t.has_served()) return "served";
    std::string all;
    const auto add = [&](double x) { all += base::general_text(x, 9) + " "; };
    for (int i = 0; i < 7; ++i) t.step(e.at(i));
    all += hash_of_file(t) + " ";
    save(t, file);
    add(double{t.evaluate(e.at(1))});
    {
        const averaged_weights averages(t);
        add(double{t.evaluate(e.at(1))});
    }
    add(double{t.evaluate(e.at(1))});
    for (int i = 0; i < 5; ++i) add(double{t.step(e.at(i))});
    load(t, file);
    all += hash_of_file(t) + " ";
    for (int i = 7; i < 12; ++i) add(double{t.step(e.at(i))});
    t.set_plain(t.parameter(0), std::vector<float>(8 * 16, 0.1f).data());
    for (int i = 0; i < 3; ++i) add(double{t.step(e.at(i))});
    return to_text({t.steps(), ": ", all, hash_of_file(t)});
}
BOOST_AUTO_TEST_CASE(one_worker_does_what_one_device_does) {
    const temporary_folder folder;
    const std::string expected = story(canonical<1>(single<cpu_device>{}), folder / "one");
    for (const int servers : {1, 3}) {
        server_job job(1, servers);
        job.start_all([&](const cluster& c) { return story(parameter_server<async>{c}, folder / "worker"); });
        BOOST_TEST(job.result(0) == expected);
        BOOST_TEST(job.result(1) == "served");
    }
}

BOOST_AUTO_TEST_CASE(workers_that_share_batches_do_what_one_device_does) {
    const temporary_folder folder;
    const std::string expected = story(canonical<2>(single<cpu_device>{}), folder / "one");
    for (const int servers : {1, 3}) {
        server_job job(2, servers);
        job.start_all(
            [&](const cluster& c) { return story(canonical<2>(parameter_server<sync<0>>{c}), folder / "worker"); });
        BOOST_TEST(job.result(0) == expected);
        BOOST_TEST(job.result(1) == expected);
    }
}

/// Workers that lag load a file together: they have it whole, with nothing of what was on its way,
/// and the file's steps.
template <auto Mode>
std::string loads_while_others_lag(const cluster& c, const std::string& file) {
    const examples e;
    trainer t{net, softmax_cross_entropy, adam{.learning_rate = 0.01f}, max_batch<batch>,
              parameter_server<Mode>{c, {.input = batch_input::global}}, {.threads = 1}};
    if (t.has_served()) return "served";
    random_stream pauses(static_cast<std::uint64_t>(c.rank() + 1));
    const auto go_on = [&](std::int64_t to) {
        while (t.steps() < to) {
            if (pauses.word() % 4 == 0) ::usleep(static_cast<useconds_t>(pauses.word() % 2000));
            t.step(e.at(static_cast<int>(t.steps())));
        }
    };
    go_on(10);
    const std::string saved = hash_of_file(t);
    save(t, file);
    std::string all;
    for (const std::int64_t to : {17, 25, 12}) {
        go_on(to);
        load(t, file);
        all += to_text({t.steps(), hash_of_file(t) == saved ? " loaded, " : " something else, "});
        double all_have_read = 1;   // before one of them goes on
        t.session().reduce(span<double>(&all_have_read, 1));
    }
    go_on(15);
    t.end_training();
    const std::string end = hash_of_file(t) == saved ? "not trained" : hash_of_file(t);
    return to_text({all, t.steps(), " ", end});
}
BOOST_AUTO_TEST_CASE(a_file_is_loaded_while_others_lag) {
    const auto of = [](auto f) {
        const temporary_folder folder;
        server_job job(3, 2);
        job.start_all([&](const cluster& c) { return f(c, folder / "file"); });
        const std::string chief = job.result(0);
        BOOST_TEST(chief.starts_with("10 loaded, 10 loaded, 10 loaded, 15 "), chief);
        for (int i = 1; i < 3; ++i) BOOST_TEST(job.result(i) == chief);
        for (int i = 3; i < 5; ++i) BOOST_TEST(job.result(i) == "served");
    };
    of([](const cluster& c, const std::string& file) { return loads_while_others_lag<stale<3>>(c, file); });
    of([](const cluster& c, const std::string& file) { return loads_while_others_lag<sync<1>>(c, file); });
}

/// What the chief alone writes in mid-training. A worker that knows of it makes its next step with that, of frozen
/// parameters too, however seldom it pulls.
template <class Strategy>
std::string follows(const Strategy& s, const std::string& begun) {
    const examples e;
    trainer t{net, softmax_cross_entropy, parameter_groups{sgd{.learning_rate = 1e-30f}, frozen<"middle/*">},
              max_batch<batch>, s, {.threads = 1}};
    if (t.has_served()) return "served";
    const auto overwrite = [&] {
        for (int i = 0; i < t.parameters(); ++i) {
            const auto n = static_cast<std::size_t>(t.parameter(i).s.size());
            std::vector<float> x(n);
            for (std::size_t k = 0; k < n; ++k) x[k] = 0.01f * static_cast<float>((k * 7 + 3) % 11);
            t.set_plain(t.parameter(i), x.data());
        }
    };
    const auto text = [](float loss) { return base::general_text(double{loss}, 9); };
    if constexpr (requires { t.session().client(); }) {
        if (!t.session().member().chief()) {
            for (int k = 0; k < 1'000'000; ++k) {
                if (k == 3) std::ofstream(begun) << "begun";
                parameter_servers::client* const c = t.session().client();
                const bool told = c && c->version() >= t.parameters();
                const float loss = t.step(e.at(0));
                if (told) return text(loss);
            }
            return "never told";
        }
        for (int k = 0; k < 5; ++k) t.step(e.at(0));
        for (int i = 0; i < 30'000 && !std::filesystem::exists(begun); ++i) ::usleep(1000);
        overwrite();
        const std::string own = text(t.step(e.at(0)));
        t.end_training();
        return own;
    }
    overwrite();
    return text(t.step(e.at(0)));
}
BOOST_AUTO_TEST_CASE(what_the_chief_writes_in_mid_training) {
    const std::string begun = to_text({"parameter_server_begun_", ::getpid()});
    const std::string expected = follows(canonical<1>(single<cpu_device>{}), begun);
    const auto of = [&](auto f) {
        std::filesystem::remove(begun);
        server_job job(2, 2);
        job.start_all(f);
        for (int i = 0; i < 2; ++i) BOOST_TEST(job.result(i) == expected);
        std::filesystem::remove(begun);
    };
    of([&](const cluster& c) { return follows(parameter_server<async>{c}, begun); });
    of([&](const cluster& c) { return follows(parameter_server<async>{c, {.prefetch = true}}, begun); });
    of([&](const cluster& c) {
        return follows(parameter_server<async>{c, {.pull_every = 1000, .push_every = 3}}, begun);
    });
    of([&](const cluster& c) {
        return follows(parameter_server<stale<2>>{c, {.input = batch_input::per_worker}}, begun);
    });
}

/// A file in a folder says when a job ended; its steps go on from there.
std::string trains_and_evaluates(const cluster& c, const std::string& folder, std::int64_t steps) {
    const examples e;
    estimator model{net, softmax_cross_entropy, adam{}, max_batch<batch>, parameter_server<async>{c}, {.threads = 1}};
    auto data = data::source(data::dataset(extents(8), e.x).labels(e.labels)) | data::batch(batch);
    auto test = data::source(data::dataset(extents(8), e.x).labels(e.labels)) | data::batch(batch);
    const train_and_evaluate_result r = train_and_evaluate(
        model, {.data = &data, .max_steps = steps, .folder = folder, .every_steps = 40, .progress = nullptr},
        {.data = &test, .throttle = 0});
    const char* const does = r.does == duty::serve ? "served" : r.does == duty::both ? "chief" : "trained";
    if (r.does == duty::serve) return does;
    return to_text({does, " ", c.rank() == 0 ? r.evaluations.back().step : std::int64_t{-1}});
}
BOOST_AUTO_TEST_CASE(jobs_go_on_from_checkpoints) {
    const temporary_folder outer;
    const std::string folder = outer / "runs";
    for (const std::int64_t steps : {100, 230, 230}) {
        server_job job(2, 2);
        job.start_all([&](const cluster& c) { return trains_and_evaluates(c, folder, steps); });
        BOOST_TEST(job.result(0) == to_text({"chief ", steps}));
        const std::string other = job.result(1);   // which may come when all is done, and nobody is there any more
        BOOST_TEST((other == "trained -1" || other.find("it was not there within") != std::string::npos), other);
        for (const int i : {2, 3}) BOOST_TEST(job.result(i) == "served");
        BOOST_TEST(std::filesystem::exists(to_text({folder, "/step-", steps, ".safetensors"})));
    }
}

/// A rate that a hook lowers on the worker is the servers'.
template <class Strategy>
std::string lowers_rates(const Strategy& s) {
    const examples e;
    const clip_by_value rates{1e9f, parameter_groups{sgd{.learning_rate = 0.1f},
                                                     group_of<"*/bias">(momentum{.learning_rate = 0.05f})}};
    estimator model{net, softmax_cross_entropy, rates, max_batch<batch>, s, {.threads = 1}};
    auto data = data::source(data::dataset(extents(8), e.x).labels(e.labels)) | data::batch(batch);
    reduce_on_plateau slower({.what = watched::loss, .factor = 0.5f, .patience = 0, .min_delta = 10});
    model.train(data, {.epochs = 4, .progress = nullptr}, slower);
    if constexpr (requires { model.inner().session().serves(); })
        if (model.inner().session().serves()) return "served";
    return to_text({slower.reductions(), " ", hash_of_file(model.inner())});
}
BOOST_AUTO_TEST_CASE(rates_that_hooks_lower) {
    const std::string expected = lowers_rates(canonical<1>(single<cpu_device>{}));
    BOOST_TEST(expected.starts_with("3 "));
    server_job job(1, 1);
    job.start_all([](const cluster& c) { return lowers_rates(parameter_server<async>{c}); });
    BOOST_TEST(job.result(0) == expected);
}

/// Means over all workers, where weights of one or of all cancel: as of one device, sum(w l) there.
std::string means_of_all(const cluster& c) {
    const examples e;
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>,
              parameter_server<stale<1>>{c, {.input = batch_input::global}}, {.threads = 1}};
    if (t.has_served()) return "served";
    t.step(e.at(0));
    const bool first = c.rank() == 0;
    std::string all;
    const auto add = [&](double mean, double weight) {
        all += base::general_text(t.session().mean_of_all(mean, weight), 9) + " ";
    };
    add(first ? 3 : 5, first ? 2 : 6);
    add(first ? 3 : 5, first ? 2 : -2);
    add(first ? 3 : 7, first ? 2 : 0);
    add(first ? 3 : 7, 0);
    add(0, 0);
    t.end_training();
    return all;
}
BOOST_AUTO_TEST_CASE(means_where_weights_cancel) {
    server_job job(2, 1);
    job.start_all(means_of_all);
    for (int i = 0; i < 2; ++i) BOOST_TEST(job.result(i) == "4.5 -4 6.5 10 0 ");
}

/// A loop of one's own, in every role.
std::string loops(const cluster& c) {
    const examples e;
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>, parameter_server<async>{c}, {.threads = 1}};
    auto data = data::source(data::dataset(extents(8), e.x).labels(e.labels)) | data::batch(batch);
    int own = 0;
    for (int pass = 0; pass < 20; ++pass)
        for (const data::batch_view& b : distribute(t, data, 60)) {
            t.step(b);
            own += t.last_step().examples > 0;
        }
    if (t.session().serves()) return to_text({"served ", own});
    t.end_training();
    return to_text({own, " of ", t.session().client()->global_step()});
}
BOOST_AUTO_TEST_CASE(a_loop_of_ones_own) {
    server_job job(2, 2);
    job.start_all(loops);
    const std::string a = job.result(0), b = job.result(1);
    BOOST_TEST(a.ends_with(" of 60"), a);
    BOOST_TEST(std::atoi(a.c_str()) + std::atoi(b.c_str()) == 60, a << ", " << b);
    for (const int i : {2, 3}) BOOST_TEST(job.result(i) == "served 0");
}

} // namespace
