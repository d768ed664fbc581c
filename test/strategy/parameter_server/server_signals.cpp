// SPDX-License-Identifier: BSL-1.0
// shows servers: SIGTERM to a server alone: all stop after one step, with all checkpoints
// weighs: 4
// needs: distributed
// processors: 2
#include "job.hpp"
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <io/temporary_folder.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/stop_on_signals.hpp>

// SIGTERM to a server alone: all workers stop, behind one step where they share batches, the chief and the servers
// write a checkpoint of it, and all processes end by themselves.
using namespace sinter;

namespace {

constexpr auto net = features<8> >> dense<16> >> relu >> dense<3>;
constexpr int batch = 12, examples = 40 * batch, workers = 3, servers = 2;
constexpr int endless = 1'000'000;   // steps, that no test waits for

using progress = std::atomic<std::int64_t>;
/// A number that processes of a test share.
class shared_number {
public:
    shared_number() = default;
    ~shared_number() { ::munmap(&at_, sizeof at_); }
    shared_number(const shared_number&) = delete;
    shared_number& operator=(const shared_number&) = delete;
    progress& operator*() const { return at_; }
    void wait_for(std::int64_t n) const {
        for (int i = 0; i < 60'000 && **this < n; ++i) ::usleep(500);
        BOOST_TEST(**this >= n);
    }

private:
    progress& at_ = in_shared_memory<progress>(0);
};
struct counts_steps {
    progress& made;
    void after_step(training_run& run, const data::batch_view&) { made += run.chief; }
};
struct points {
    std::vector<float> x = std::vector<float>(std::size_t{8} * examples);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(examples);
    points() {
        random_stream r(5);
        for (float& v : x) v = r.normal();
        for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r.word() % 3);
    }
    data::pipeline batches() const {
        return data::source(data::dataset(extents(8), x).labels(labels)) | data::batch(batch);
    }
};
template <auto Mode>
auto model_of(const cluster& c, const parameter_server_options& o) {
    return estimator{net, softmax_cross_entropy, sgd{.learning_rate = 1e-3f}, max_batch<batch>,
                     parameter_server<Mode>{c, o}, {.threads = 1}};
}

/// "step S" of a worker that trains until it is stopped; "served by S" of a server, S: which signal it had.
template <auto Mode>
std::string trained(const cluster& c, const parameter_server_options& o, const std::string& folder, progress& made) {
    auto model = model_of<Mode>(c, o);
    const points all;
    auto data = all.batches();
    stop_on_signals signals;
    if (model.inner().session().serves()) ++made;
    model.train(data, {.max_steps = endless, .progress = nullptr}, counts_steps{made}, signals,
                save_checkpoints(folder, {.every_steps = endless, .keep = 9}));
    if (model.inner().session().serves()) return to_text({"served by ", signals.signal()});
    return to_text({"step ", model.inner().steps()});
}
std::int64_t number_behind(const std::string& text, const std::string& word) {
    const auto at = text.find(word + " ");
    return at == std::string::npos ? -1 : std::atoll(text.c_str() + at + word.size() + 1);
}
/// The steps of the whole checkpoints that servers wrote.
std::vector<std::int64_t> whole_in(const std::string& folder) {
    std::vector<std::int64_t> all;
    for (const auto& f : std::filesystem::directory_iterator(folder))
        if (std::filesystem::exists(f.path() / "manifest.json"))
            all.push_back(std::atoll(f.path().filename().string().c_str() + 5));
    return all;
}
parameter_server_options options(const std::string& folder, batch_input input, int replicas = 1) {
    parameter_server_options o;
    o.input = input;
    o.checkpoints = folder, o.save_every_steps = endless;
    o.replicas = replicas;
    return o;
}

template <auto Mode>
void all_stop(batch_input input, int victim, int replicas = 1) {
    const temporary_folder folder;
    const std::string where = folder / "run", of_servers = folder / "servers";
    std::filesystem::create_directory(where);
    const parameter_server_options o = options(of_servers, input, replicas);
    const shared_number made;
    server_job job(workers, servers);
    job.start_all([&](const cluster& c) { return trained<Mode>(c, o, where, *made); });
    made.wait_for(servers + 20);
    job.signal(workers + victim, SIGTERM);
    const std::string chief = job.result(0);
    const std::int64_t step = number_behind(chief, "step");
    BOOST_TEST_CONTEXT("input " << static_cast<int>(input) << ", server " << victim << ", replicas " << replicas) {
        BOOST_TEST((step >= 20 && step < endless), chief);
        for (int i = 1; i < workers; ++i)
            if (input == batch_input::global) BOOST_TEST(job.result(i) == chief);
            else BOOST_TEST(number_behind(job.result(i), "step") > 0, job.result(i));
        for (int s = 0; s < servers; ++s)
            BOOST_TEST(job.result(workers + s) == to_text({"served by ", s == victim ? SIGTERM : 0}));
        BOOST_TEST(std::filesystem::exists(checkpoint_folder(where, 9).name(step)));
        BOOST_TEST(whole_in(of_servers) == std::vector<std::int64_t>{step}, boost::test_tools::per_element());
    }
}
BOOST_AUTO_TEST_CASE(workers_that_share_batches) {
    for (const int victim : {0, 1}) {
        all_stop<sync<0>>(batch_input::global, victim);
        all_stop<stale<3>>(batch_input::global, victim);
        all_stop<sync<1>>(batch_input::global, victim);
    }
}
BOOST_AUTO_TEST_CASE(workers_with_batches_of_their_own) {
    for (const int victim : {0, 1}) all_stop<async>(batch_input::per_worker, victim);
    all_stop<stale<3>>(batch_input::per_worker, 1);
}
BOOST_AUTO_TEST_CASE(servers_that_keep_parts_twice) {
    for (const int victim : {0, 1}) {
        all_stop<sync<0>>(batch_input::global, victim, 2);
        all_stop<async>(batch_input::per_worker, victim, 2);
    }
}
/// A server that was killed and started again leads nothing: who leads hears of its signal.
BOOST_AUTO_TEST_CASE(a_server_that_only_follows) {
    const temporary_folder folder;
    const std::string where = folder / "run";
    std::filesystem::create_directory(where);
    const parameter_server_options o = options("", batch_input::global, 2);
    const shared_number made;
    const auto f = [&](const cluster& c) { return trained<sync<0>>(c, o, where, *made); };
    server_job job(workers, servers, 15);   // in less time it has found whoever leads
    job.start_all(f);
    made.wait_for(servers + 20);
    job.signal(workers, SIGKILL);
    BOOST_TEST(job.result(workers) == "KILLED");
    const std::int64_t before = *made;
    job.start(workers, f);
    made.wait_for(before + 20);
    job.signal(workers, SIGTERM);
    const std::string chief = job.result(0);
    BOOST_TEST(number_behind(chief, "step") >= 20, chief);
    for (int i = 1; i < workers; ++i) BOOST_TEST(job.result(i) == chief);
    BOOST_TEST(job.result(workers) == to_text({"served by ", SIGTERM}));
    BOOST_TEST(job.result(workers + 1) == "served by 0");
}
BOOST_AUTO_TEST_CASE(a_server_that_no_worker_has_come_to) {
    for (const int replicas : {1, 2}) {
        const temporary_folder folder;
        const shared_number begun;
        server_job job(1, servers);
        for (int s = 0; s < servers; ++s)
            job.start(1 + s, [&](const cluster& c) {
                return trained<async>(c, options("", batch_input::per_worker, replicas), folder / "run", *begun);
            });
        begun.wait_for(servers);
        for (int s = 0; s < servers; ++s) job.signal(1 + s, SIGTERM);
        for (int s = 0; s < servers; ++s)   // long before they would say that nobody has come
            BOOST_TEST(job.result(1 + s, 15) == to_text({"served by ", SIGTERM}));
    }
}

/// A loop of one's own.
template <auto Mode>
std::string looped(const cluster& c, progress& made) {
    trainer t{net, softmax_cross_entropy, sgd{.learning_rate = 1e-3f}, max_batch<batch>, parameter_server<Mode>{c},
              {.threads = 1}};
    const points all;
    auto data = data::source(data::dataset(extents(8), all.x).labels(all.labels)) | data::repeat() | data::batch(batch);
    stop_on_signals signals;
    if (t.session().serves()) ++made;
    for (const data::batch_view& b : distribute(t, data, 0, &stop_on_signals::asked)) {
        t.ask_members(static_cast<bool>(signals), false);
        t.step(b);
        made += t.session().member().chief();
        if (t.last_step().stop) break;
    }
    if (t.session().serves()) return "served";
    t.end_training();
    return to_text({"step ", t.steps()});
}
BOOST_AUTO_TEST_CASE(a_loop_of_ones_own) {
    const auto stops = [](auto f) {
        const shared_number made;
        server_job job(workers, servers);
        job.start_all([&](const cluster& c) { return f(c, *made); });
        made.wait_for(servers + 20);
        job.signal(workers + 1, SIGTERM);
        for (int i = 0; i < workers; ++i) BOOST_TEST(number_behind(job.result(i), "step") > 0, job.result(i));
        for (int s = 0; s < servers; ++s) BOOST_TEST(job.result(workers + s) == "served");
    };
    stops(looped<sync<0>>);
    stops(looped<async>);
}

/// "interrupted I steps S", and the same command goes on.
std::string whole_program(const cluster& c, const std::string& folder, std::int64_t max_steps, progress& made) {
    auto model = model_of<sync<0>>(c, {});
    const points all;
    auto data = all.batches(), test = all.batches();
    if (model.inner().session().serves()) ++made;
    const auto r = train_and_evaluate(
        model, {.data = &data, .max_steps = max_steps, .folder = folder, .every_steps = endless, .progress = nullptr},
        {.data = &test, .start_delay = 0}, counts_steps{made});
    return to_text({"interrupted ", r.interrupted ? 1 : 0, " steps ", r.steps});
}
BOOST_AUTO_TEST_CASE(train_and_evaluate_is_interrupted_and_goes_on) {
    const temporary_folder folder;
    const std::string where = folder / "run";
    const shared_number made;
    std::int64_t step = 0;
    {
        server_job job(workers, servers);
        job.start_all([&](const cluster& c) { return whole_program(c, where, endless, *made); });
        made.wait_for(servers + 20);
        job.signal(workers + 1, SIGTERM);
        const std::string chief = job.result(0);
        step = number_behind(chief, "steps");
        BOOST_TEST((chief.starts_with("interrupted 1 ") && step >= 20 && step < endless), chief);
        for (int i = 1; i < workers; ++i) BOOST_TEST(job.result(i) == chief);
        BOOST_TEST(job.result(workers) == "interrupted 0 steps 0");
        BOOST_TEST(job.result(workers + 1) == "interrupted 1 steps 0");
    }
    *made = 0;
    server_job job(workers, servers);
    job.start_all([&](const cluster& c) { return whole_program(c, where, step + 7, *made); });
    for (int i = 0; i < workers; ++i) BOOST_TEST(job.result(i) == to_text({"interrupted 0 steps ", step + 7}));
    BOOST_TEST(*made == servers + 7);
}

} // namespace
