// SPDX-License-Identifier: BSL-1.0
// shows servers: soaks: random kills, stops and restarts of every worker and server, in each mode
// weighs: 3
// needs: distributed
// labels: slow
#define BOOST_TEST_MODULE restarted_soak
#include <sinter/base/os/monotonic_seconds.hpp>
#include <boost/test/unit_test.hpp>
#include "restarted_job.hpp"
#include <random>

// Jobs of three workers and two servers whose members, all of them, are killed and started again, at once or later, and
// stopped for a while, at random, in each mode. Whoever has ended with an error is started again, as a cluster does.
// The job always goes on, and ends well when it is asked to stop. Half a minute; `restarted_soak -- SECONDS [SEED]`, or
// SINTER_SOAK_SECONDS, says how long else.
using namespace sinter;
using namespace sinter::restarts;

namespace {

using life = std::function<std::string(const cluster&)>;
constexpr int workers = 3, servers = 2, members = workers + servers;
constexpr double dead_after = 2;

double seconds_of_all() {
    auto& suite = boost::unit_test::framework::master_test_suite();
    if (suite.argc > 1) return std::atof(suite.argv[1]);
    const char* const set = std::getenv("SINTER_SOAK_SECONDS");
    return set ? std::atof(set) : 30;
}
unsigned seed_of_all() {
    auto& suite = boost::unit_test::framework::master_test_suite();
    return suite.argc > 2 ? static_cast<unsigned>(std::atol(suite.argv[2])) : static_cast<unsigned>(::getpid());
}

class supervised {
public:
    supervised(const char* name, life f, board& b, double seconds, unsigned seed)
        : name_(name), b_(b), random_(seed), seconds_(seconds), job_(workers, servers, dead_after) {
        const auto most = static_cast<unsigned>(seconds) + 300;
        f_ = [f, most](const cluster& c) { return ::alarm(most), f(c); };
        job_.start_all(f_);
        BOOST_TEST_MESSAGE(name << ", seed " << seed);
    }
    void run() {
        const double end = base::monotonic_seconds() + seconds_;
        goes_on(10);
        while (base::monotonic_seconds() < end && fault_.empty()) {
            one_event();
            if (random_() % 4 != 0) goes_on(1 + static_cast<std::int64_t>(random_() % 20));   // else amid what it does
            else for (int i = 0; i < 10; ++i) look(), ::usleep(1000 * (random_() % 50));
        }
        goes_on(5);
        b_.stop = true;
        const double until = base::monotonic_seconds() + patience;
        while (fault_.empty() && !all_ended()) {
            look();
            ::usleep(2000);
            if (base::monotonic_seconds() > until) fault_ = "not all have ended: " + state();
        }
        BOOST_TEST(fault_ == "", name_ << ": " << fault_);
        BOOST_TEST_MESSAGE(name_ << ": " << kills_ << " killed, " << stops_ << " stopped, " << errors_
                                 << " have ended with an error and were started again; " << made() << " steps, to step "
                                 << b_.newest());
    }

private:
    static constexpr double patience = 120;
    const char* name_;
    board& b_;
    std::mt19937 random_;
    double seconds_;
    life f_;
    server_job job_;
    bool well_[members] = {};
    int kills_ = 0, stops_ = 0, errors_ = 0;
    std::string fault_;

    std::int64_t made() const {
        std::int64_t n = 0;
        for (int w = 0; w < workers; ++w) n += b_.made[w];
        return n;
    }
    bool all_ended() const { return std::ranges::all_of(well_, [](bool b) { return b; }); }
    std::string state() const {
        std::string s;
        for (int i = 0; i < members; ++i)
            s += to_text({i ? ", " : "", i < workers ? "worker/" : "ps/", i < workers ? i : i - workers,
                         well_[i] ? " ended" : " runs"});
        return s;
    }
    /// Who has ended with an error is started again.
    void look() {
        for (int i = 0; i < members; ++i) {
            if (well_[i] || !job_.ended(i)) continue;
            const std::string said = job_.result(i);
            if (said.starts_with("error: ") || said == "KILLED") {
                ++errors_;
                // Once all that train have ended a server may find nobody who says so.
                if (b_.stop && i >= workers && well_[0] && well_[1] && well_[2]) well_[i] = true;
                else job_.start(i, f_, 0.001 * static_cast<double>(random_() % 500));
            } else if (b_.stop) {
                well_[i] = true;
            } else {
                fault_ = to_text({"member ", i, " has ended: ", said});
            }
        }
    }
    void goes_on(std::int64_t steps) {
        const std::int64_t from = made();
        const double until = base::monotonic_seconds() + patience;
        while (fault_.empty() && made() < from + steps) {
            look();
            ::usleep(1000);
            if (base::monotonic_seconds() > until)
                fault_ = to_text({"no step for ", static_cast<int>(patience), " s, after ", kills_, " kills and ",
                                 stops_, " stops"});
        }
    }
    void one_event() {
        const int i = static_cast<int>(random_() % members);
        if (job_.ended(i)) return;
        if (random_() % 5 == 0) {
            job_.signal(i, SIGSTOP);
            const double within = random_() % 3 ? 0.5 : 1.6 * dead_after;   // shorter or longer than a death
            const double until = base::monotonic_seconds() + within * static_cast<double>(random_() % 1000) * 1e-3;
            while (base::monotonic_seconds() < until) look_but(i), ::usleep(1000);
            job_.signal(i, SIGCONT);
            ++stops_;
            return;
        }
        job_.signal(i, SIGKILL);
        job_.result(i);
        ++kills_;
        const unsigned how = random_() % 4;
        job_.start(i, f_, how < 2 ? 0. : how == 2 ? 0.3 : 1e-3 * static_cast<double>(random_() % 4000));
    }
    void look_but(int stopped) {
        const bool was = std::exchange(well_[stopped], true);
        look();
        well_[stopped] = was;
    }
};

/// Each mode has an equal part of the time.
constexpr int parts = 7;
template <auto Mode>
void soak(const char* name, int replicas) {
    static const unsigned seed = seed_of_all();
    const temporary_folder folder;
    board& b = board::make();
    const settings s{.folder = folder / "servers", .max_steps = 1'000'000'000, .replicas = replicas, .save_every = 20,
                     .reconnect_within = 10};
    supervised(name, [s, &b](const cluster& c) { return trains<Mode>(c, s, b); }, b, seconds_of_all() / parts,
               seed + static_cast<unsigned>(replicas))
        .run();
}

} // namespace

BOOST_AUTO_TEST_CASE(asynchronous) { soak<async>("async", 1); }
BOOST_AUTO_TEST_CASE(asynchronous_with_second_copies) { soak<async>("async, replicas = 2", 2); }
BOOST_AUTO_TEST_CASE(bounded) { soak<stale<3>>("stale<3>", 1); }
BOOST_AUTO_TEST_CASE(in_step) { soak<sync<0>>("sync<0>", 1); }
BOOST_AUTO_TEST_CASE(in_step_with_second_copies) { soak<sync<0>>("sync<0>, replicas = 2", 2); }
BOOST_AUTO_TEST_CASE(with_a_backup_worker) { soak<sync<1>>("sync<1>", 1); }
BOOST_AUTO_TEST_CASE(with_a_backup_worker_and_second_copies) { soak<sync<1>>("sync<1>, replicas = 2", 2); }
