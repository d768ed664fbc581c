// SPDX-License-Identifier: BSL-1.0
// shows elastic: soak: random kills, stops and removals; the weights of an undisturbed run
// needs: distributed
// labels: slow
// once: it watches processes for a minute
#define BOOST_TEST_MODULE elastic_soak
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "net/processes.hpp"
#include "support/points.hpp"
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sys/prctl.h>

// Four members of an elastic job, of which one after the other, often the chief, is killed and at once started again,
// stopped for a moment, stopped and then killed, or stopped until the others have removed it. Afterwards the weights
// are those of one process that has made as many steps on the same batches, and the table of epochs has each once. It
// is at fault to stand still for 40 s. Half a minute of it; SINTER_SOAK_SECONDS=3600 for an hour.
using namespace sinter;

namespace {

constexpr auto model_net = features<2> >> dense<2>;   // convex: roundings do not grow, however long it takes
constexpr int members = 4;

/// What members write for the test to see, in memory that all have.
struct board {
    std::atomic<int> count[members];
    std::atomic<std::int64_t> step[members];
    std::atomic<bool> stop;
};
struct writes_down {
    board& to;
    int slot;
    void after_step(auto& run, const data::batch_view&) {
        to.count[slot] = run.model.session().member().count;
        to.step[slot] = run.step;
        if (to.stop) run.ask_to_stop("enough");
        ::usleep(3000);
    }
};
template <class Model>
std::vector<float> train(Model& model, std::int64_t steps, auto&... hooks) {
    auto data = sinter::test::points(200, 3) | data::shuffle(50) | data::batch(16);
    model.train(data, {.max_steps = steps, .progress = nullptr}, hooks...);
    std::vector<float> all;
    for (int i = 0; i < model.inner().parameters(); ++i)
        for (const float v : model.inner().plain(model.inner().parameter(i))) all.push_back(v);
    return all;
}
auto model_under(const auto& s) {
    return estimator{model_net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, max_batch<16>, s, {.threads = 1}};
}
std::string live(const std::vector<std::string>& at, int slot, board& b, const std::string& table) {
    ::alarm(0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto model = model_under(elastic(multi_worker<ring>{cluster::of(at, slot, quick(1))}));
    writes_down w{b, slot};
    csv_log log(table);
    const std::vector<float> x = train(model, 1'000'000'000, w, log);
    auto alone = model_under(single<cpu_device>{});
    const std::vector<float> want = train(alone, model.inner().steps());
    double off = 0;
    for (std::size_t i = 0; i < x.size(); ++i) off = std::max(off, std::abs(static_cast<double>(x[i] - want[i])));
    return "ok steps " + std::to_string(model.inner().steps()) +
        (off < 1e-4 ? " right" : " off by " + std::to_string(off));
}

/// The epochs of a table's lines: how many there are, where they are 1, 2, 3...; else what is there instead.
std::string epochs_of(const std::string& table) {
    std::ifstream in(table);
    std::string line;
    std::int64_t n = 0;
    std::getline(in, line);
    if (!line.starts_with("epoch,")) return "a heading: " + line;
    for (; std::getline(in, line); ++n)
        if (!line.starts_with(std::to_string(n + 1) + ',')) return "behind " + std::to_string(n) + ": " + line;
    return std::to_string(n);
}

} // namespace

BOOST_AUTO_TEST_CASE(killed_and_stopped_at_random) {
    const char* const asked = std::getenv("SINTER_SOAK_SECONDS");
    const double seconds = asked ? std::atof(asked) : 30;
    const unsigned seed = static_cast<unsigned>(::getpid());
    std::mt19937 random(seed);
    board& b = in_shared_memory<board>();
    const auto at = own_addresses(members);
    const temporary_folder folder;
    const std::string table = folder / "epochs.csv";
    processes job;
    int process[members];
    const auto start = [&](int s) {
        b.count[s] = 0;
        process[s] = job.start([&b, at, s, table] { return live(at, s, b, table); });
    };
    int kills = 0, stops = 0, removals = 0;
    // Empty where all train; else what each does, or said at its end.
    const auto who_stands_still = [&] {
        std::int64_t from[members];
        for (int s = 0; s < members; ++s) from[s] = b.step[s];
        for (int i = 0; i < 4000; ++i, ::usleep(10'000)) {
            bool all = true;
            for (int s = 0; s < members; ++s) {   // a busy machine may make a short stop one of more than dead_after
                if (!job.ended(process[s])) continue;
                const std::string said = job.result(process[s]);
                if (!holds(said, "removed")) return "\nmember " + std::to_string(s) + " ended as " + said;
                ++removals;
                start(s);
            }
            for (int s = 0; s < members; ++s) all = all && b.count[s] == members && b.step[s] > from[s];
            if (all) return std::string();
        }
        std::string said;
        for (int s = 0; s < members; ++s)
            said += "\nmember " + std::to_string(s) + ": one of " + std::to_string(b.count[s]) + ", step "
                  + std::to_string(from[s]) + ", then " + std::to_string(b.step[s]) + ", ended as "
                  + job.result(process[s], 0.1);
        return said;
    };
    for (int s = 0; s < members; ++s) start(s);
    const double until = base::monotonic_seconds() + seconds;
    // On a busy machine for longer: until something has happened.
    while (base::monotonic_seconds() < until || kills + stops + removals <= seconds / 15) {
        const std::string stuck = who_stands_still();
        BOOST_REQUIRE_MESSAGE(stuck.empty(), "not all train, seed " << seed << stuck);
        ::usleep(random() % 300'000);
        const int s = random() % 3 == 0 ? 0 : static_cast<int>(random() % members);
        switch (random() % 4) {
            case 3:   // it is dead for the others at once, or only when they miss it
                job.signal(process[s], SIGSTOP);
                ::usleep(random() % 2'000'000);
                [[fallthrough]];
            case 0:
                ++kills;
                job.signal(process[s], SIGKILL);
                BOOST_TEST(job.result(process[s]) == "KILLED");
                start(s);
                break;
            case 1:
                ++stops;
                job.signal(process[s], SIGSTOP);
                ::usleep(random() % 400'000);
                job.signal(process[s], SIGCONT);
                break;
            default:
                ++removals;
                job.signal(process[s], SIGSTOP);
                ::usleep(6'000'000);   // far longer than it takes to remove it
                job.signal(process[s], SIGCONT);
                const std::string said = job.result(process[s]);
                BOOST_TEST(holds(said, "removed"), said);
                start(s);
        }
    }
    const std::string stuck = who_stands_still();
    BOOST_REQUIRE_MESSAGE(stuck.empty(), "not all train, seed " << seed << stuck);
    b.stop = true;
    const std::string first = job.result(process[0], 60);
    BOOST_TEST(holds(first, "ok steps "), first << ", seed " << seed);
    BOOST_TEST(holds(first, " right"), first << ", seed " << seed);
    for (int s = 1; s < members; ++s) BOOST_TEST(job.result(process[s], 60) == first);
    const std::int64_t steps = std::atoll(first.c_str() + sizeof "ok steps " - 1);
    const std::string epochs = epochs_of(table);   // the last one may have been stopped in its midst
    BOOST_TEST((epochs == std::to_string(steps / 13) || epochs == std::to_string(steps / 13 + 1)),
               epochs << " epochs of 13 steps in " << steps << ", seed " << seed);
    BOOST_TEST_MESSAGE(kills << " kills, " << stops << " stops, " << removals << " removals; " << first);
}
