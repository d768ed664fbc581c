// SPDX-License-Identifier: BSL-1.0
// shows elastic: soak: a ring under `sinter-launch --restarts` has the bits of an undisturbed run
// needs: tools distributed
// labels: slow release
// processors: 2
// alone: it starts itself as the members of a job
// once: it watches processes for half a minute
#define BOOST_TEST_MODULE launch_ring_soak
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sinter/base/checksum.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/distributed.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include "io/temporary_folder.hpp"
#include "support/points.hpp"

// Two members of a ring under sinter-launch --restarts, of which one after the other, the chief too, is killed at a
// random time, also while the job is being started again, or stopped for a moment or for long. The launcher starts all
// again each time, they go on from their checkpoint, and end in the very bits of one process that nobody disturbed,
// with each epoch once in their table. Half a minute of it; SINTER_SOAK_SECONDS=3600 for an hour.
using namespace sinter;

namespace {

constexpr auto net = features<2> >> dense<8> >> relu >> dense<2>;

/// Until there is a file "stop".
struct until_told {
    std::string folder;
    void after_step(training_run& run, const data::batch_view&) {
        ::usleep(5000);
        if (run.step % 20 == 0 && ::access((folder + "/stop").c_str(), F_OK) == 0) run.ask_to_stop("enough");
    }
};
template <class Strategy>
std::string trained(const Strategy& s, std::int64_t steps, auto&&... hooks) {
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 0.01f}, max_batch<16>, s, {.threads = 1}};
    auto data = test::points(200, 3) | data::shuffle(50) | data::batch(16);
    model.train(data, {.max_steps = steps, .progress = nullptr}, hooks...);
    base::checksum sum;
    for (int i = 0; i < model.inner().parameters(); ++i) {
        const std::vector<float> x = model.inner().plain(model.inner().parameter(i));
        sum.update({reinterpret_cast<const std::byte*>(x.data()), x.size() * sizeof(float)});
    }
    return std::to_string(model.inner().steps()) + " steps, bits " + std::to_string(sum.value());
}
std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}
int member(const std::string& folder) try {
    cluster_options o;
    o.dead_after = 1;
    const cluster c = cluster::from_environment(o);
    const std::string own = folder + "/pid-" + std::to_string(c.rank());
    std::ofstream(own + ".new") << ::getpid() << '\n';
    std::filesystem::rename(own + ".new", own);
    const std::string end = trained(canonical<4>(multi_worker<ring>{c}), 1'000'000'000, until_told{folder},
                                    csv_log(folder + "/epochs.csv"),
                                    save_checkpoints(folder + "/run", {.every_steps = 7, .resume = true, .keep = 2,
                                                                       .restarts_at_a_step = 0}));
    if (c.is_chief()) std::ofstream(folder + "/end") << end;
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
const bool is_no_member = [] {
    if (const char* folder = std::getenv("SINTER_SOAK_FOLDER")) std::_Exit(member(folder));
    return true;
}();

} // namespace

BOOST_AUTO_TEST_CASE(killed_stopped_and_started_again) {
    const char *const asked = std::getenv("SINTER_SOAK_SECONDS"), *const launch = std::getenv("SINTER_LAUNCH");
    const double seconds = asked ? std::atof(asked) : 30;
    const unsigned seed = static_cast<unsigned>(::getpid());
    std::mt19937 random(seed);
    const temporary_folder folder;
    const std::string in = folder / "job", self = std::filesystem::read_symlink("/proc/self/exe");
    std::filesystem::create_directory(in);
    const pid_t launcher = ::fork();
    if (launcher == 0) {
        ::setenv("SINTER_SOAK_FOLDER", in.c_str(), 1);
        ::setenv("SINTER_VERBOSITY", "quiet", 1);
        const std::string log = in + "/log";
        if (!std::freopen(log.c_str(), "w", stdout) || !std::freopen(log.c_str(), "a", stderr)) std::_Exit(9);
        const char* const program = launch ? launch : "sinter-launch";
        ::execlp(program, program, "-n", "2", "--restarts", "100000", "--grace", "2", "--progress", "0", "--",
                 self.c_str(), nullptr);
        std::_Exit(9);
    }
    const auto number = [&](int rank) { return std::atoi(text_of(in + "/pid-" + std::to_string(rank)).c_str()); };
    // Steps that the newest checkpoint has; 0: there is none.
    const auto saved = [&] {
        std::int64_t most = 0;
        std::error_code gone;
        for (const auto& f : std::filesystem::directory_iterator(in + "/run", gone))
            if (const std::string name = f.path().filename(); name.starts_with("step-"))
                most = std::max<std::int64_t>(most, std::atoll(name.c_str() + 5));
        return most;
    };
    const auto await = [&](auto holds) {
        for (int i = 0; i < 6000; ++i, ::usleep(10'000)) {
            if (holds()) return true;
            if (::waitpid(launcher, nullptr, WNOHANG) != 0) return false;
        }
        return false;
    };
    int kills = 0, stops = 0;
    bool goes_on = true;
    for (const double until = base::monotonic_seconds() + seconds;
         goes_on && (base::monotonic_seconds() < until || kills + stops < 3);) {
        const std::int64_t from = saved();
        goes_on = await([&] { return saved() > from; });
        ::usleep(random() % 200'000);
        for (int more = 1 + static_cast<int>(random() % 2); more > 0; --more) {   // the second one hits a start
            const int victim = number(static_cast<int>(random() % 2));
            if (victim <= 0) continue;
            if (random() % 3 == 0) {
                ++stops;
                ::kill(victim, SIGSTOP);
                ::usleep(random() % 3'000'000);   // some are longer than dead_after
                ::kill(victim, SIGCONT);
            } else {
                ++kills;
                ::kill(victim, SIGKILL);
            }
            ::usleep(random() % 1'500'000);
        }
    }
    BOOST_TEST(goes_on, "no further checkpoint, seed " << seed << ": " << text_of(in + "/log"));
    std::ofstream(in + "/stop") << "now";
    int status = -1;
    bool ended = false;
    for (int i = 0; i < 6000 && !ended; ++i, ::usleep(10'000))
        ended = ::waitpid(launcher, &status, WNOHANG) == launcher;
    if (!ended) ::kill(launcher, SIGTERM), ::usleep(5'000'000), ::kill(launcher, SIGKILL);
    BOOST_TEST((ended && status == 0), "seed " << seed << ": " << text_of(in + "/log"));
    const std::string end = text_of(in + "/end");
    const std::int64_t steps = std::atoll(end.c_str());
    BOOST_TEST(steps > 0);
    BOOST_TEST(end == trained(canonical<4>(), steps), "seed " << seed);
    std::ifstream table(in + "/epochs.csv");
    std::string line;
    std::int64_t epochs = -1;   // with the heading
    for (; std::getline(table, line); ++epochs)
        if (epochs >= 0) BOOST_TEST(line.starts_with(std::to_string(epochs + 1) + ','), line << ", seed " << seed);
    BOOST_TEST((epochs == steps / 13 || epochs == steps / 13 + 1), epochs << " of " << steps << ", seed " << seed);
    BOOST_TEST_MESSAGE(kills << " kills, " << stops << " stops; " << end);
}
