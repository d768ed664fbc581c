// SPDX-License-Identifier: BSL-1.0
// shows servers: what data or hooks throw ends those that share batches; others go on
// weighs: 2
// needs: distributed
// waits: until a worker that has thrown is missed, and does not come again
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

// A worker's data or hook throws. Workers that share batches cannot go on without it: all end with its words, servers
// too. Workers with batches of their own make their steps without it.
using namespace sinter;

namespace {

constexpr auto net = features<4> >> dense<8> >> relu >> dense<2>;
constexpr int batch = 8, steps = 200;

struct throws_at {
    int step, own = 0;   ///< of this worker's own
    void after_step(training_run&, const data::batch_view&) {
        ::usleep(1000);
        if (++own == step) throw data_error("the disk is on fire", "a test's hook", "smoke", "none");
    }
};
template <auto Mode>
std::string trains(const cluster& c, bool in_data, float rate_of_one = 0.1f) {
    random_stream r(3);
    std::vector<float> x(40 * batch * 4);
    std::vector<std::int32_t> labels(40 * batch);
    for (float& v : x) v = r.normal();
    for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r.word() % 2);
    const bool bad = c.rank() == 1;
    estimator model{net, softmax_cross_entropy, sgd{.learning_rate = bad ? rate_of_one : 0.1f}, max_batch<batch>,
                    parameter_server<Mode>{c}, {.threads = 1}};
    int seen = 0;
    auto data = data::source(data::dataset(extents(4), x).labels(labels)) |
                data::map([&](const data::example_view&, data::example&) {
                    if (bad && in_data && ++seen == 60) throw io_error("the file is gone", "points.csv");
                }) |
                data::batch(batch);
    throws_at hook{bad && !in_data ? 7 : -1};
    model.train(data, {.max_steps = steps, .progress = nullptr}, hook);
    if (model.inner().session().serves()) return "served";
    return to_text({"after ", model.inner().steps()});
}
template <auto Mode>
void all_end(bool in_data) {
    const char* const words = in_data ? "the file is gone" : "the disk is on fire";
    server_job job(3, 2, 20);   // nobody learns it by waiting
    job.start_all([=](const cluster& c) { return trains<Mode>(c, in_data); });
    for (int i = 0; i < job.size(); ++i) {
        const std::string said = job.result(i, 15);
        BOOST_TEST((holds(said, "error: ") && holds(said, words)), "process " << i << ": " << said);
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(workers_that_share_batches_all_end) {
    for (const bool in_data : {false, true}) {
        all_end<sync<0>>(in_data);
        all_end<stale<2>>(in_data);
    }
}
// So do those that would not train alike, before anything is pushed.
BOOST_AUTO_TEST_CASE(another_learning_rate) {
    const auto differ = [](auto trains_with) {
        server_job job(3, 2, 20);
        job.start_all(trains_with);
        for (int i = 0; i < job.size(); ++i) {
            const std::string said = job.result(i, 15);
            BOOST_TEST(holds(said, "learning_rate: rank 0 has 0.1, rank 1 has 0.2"), "process " << i << ": " << said);
        }
    };
    differ([](const cluster& c) { return trains<sync<0>>(c, false, 0.2f); });
    differ([](const cluster& c) { return trains<stale<2>>(c, false, 0.2f); });
}
BOOST_AUTO_TEST_CASE(workers_with_batches_of_their_own_go_on) {
    // Both jobs at once: the others wait until they miss worker 1, and servers for as long as it might come back.
    server_job by_hook(3, 2, 3), by_data(3, 2, 3);
    for (server_job* job : {&by_hook, &by_data}) {
        job->options().join_within = 5;
        job->start_all([in_data = job == &by_data](const cluster& c) { return trains<async>(c, in_data); });
    }
    for (server_job* job : {&by_hook, &by_data}) {
        BOOST_TEST(job->result(0) == to_text({"after ", steps}));
        BOOST_TEST(job->result(1).starts_with("error: "), job->result(1));
        BOOST_TEST(job->result(2).starts_with("after "), job->result(2));
        for (int i = 3; i < 5; ++i) BOOST_TEST(job->result(i) == "served");
    }
}
