// SPDX-License-Identifier: BSL-1.0
// labels: release
// peers: distributed
// What it costs to look for damage, and how soon a job goes on behind a death; as one JSON line.
#include <sys/mman.h>

#include <atomic>

#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/check_replicas.hpp>

#include "nets.hpp"
#include "options.hpp"
#include "processes.hpp"

using namespace sinter;
using namespace sinter::bench;

namespace {

constexpr const char* help =
    "reliability [--what W] [--every N] [--rounds R]\n"
    "  --what    weights (default), sums: two processes train a perceptron (ring, batch 64, adam) and now and then\n"
    "            compare all weights, or check sums of gradients. ratio: of steps where one of N is checked, over\n"
    "            steps without.\n"
    "            kill, stop: three members of an elastic job, of which one has SIGKILL or SIGSTOP: from then until\n"
    "            the others have made their next step. A stopped process counts as dead after\n"
    "            cluster_options::dead_after, 5 s.\n"
    "            heal: the same job with 70 MB of weights and slots: how many steps a second the two that are left\n"
    "            make while the third, started again, is healed, over what they make before. Each step takes 50 ms\n"
    "            longer, as where another device computes: the processes of one machine would take processor time\n"
    "            from each other.\n"
    "  --every   steps (default 100)\n"
    "  --rounds  of which the median counts (default 9)";

struct settings {
    std::string what = "weights";
    int every = 100, rounds = 9;
};
constexpr auto large = image<28, 28, 1> >> flatten >> dense<2048> >> relu >> dense<2048> >> relu >> dense<10>;

cluster_options with() {
    cluster_options o;
    o.job = "reliability";
    o.insecure = true;
    return o;
}
double median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return x.empty() ? 0 : x[x.size() / 2];
}

// ---- looking for damage

int looking(const settings& s) {
    const std::vector<std::string> at = loopback_addresses(2);
    return in_processes(2, [&](int rank) {
        constexpr int often = 10;   // more checks to measure; each costs the same
        const bool sums = s.what == "sums";
        trainer t{mlp, softmax_cross_entropy, adam{}, max_batch<64>,
                  multi_worker<ring>{cluster::of(at, rank, with()), {.check_sums_every = sums ? often : 0}},
                  trainer_options{.threads = 1}};
        const data::dataset examples = images();
        auto batches = examples | data::repeat() | data::batch(64);
        auto next = batches.begin();
        model_run<decltype(t)> run(t, batches);
        check_replicas look(often);
        std::vector<double> plain, checked;
        for (int i = 0; i < 500 + 500 * s.rounds; ++i, ++next) {
            const bool checks = i % often == 0;
            const double began = base::monotonic_seconds();
            t.step(*next);
            run.step = checks ? often : 1;
            if (!sums) look.after_step(run, *next);
            const double took = base::monotonic_seconds() - began;
            if (i >= 500) (checks ? checked : plain).push_back(1e3 * took);
        }
        const double step = median(plain), more = median(checked) - step;
        if (rank == 0)
            std::printf(
                "{\"system\": \"sinter\", \"what\": \"check %s\", \"ranks\": 2, \"every\": %d, \"median_ms\": %.4f, "
                "\"check_ms\": %.4f, \"ratio\": %.4f}\n",
                s.what.c_str(), s.every, step, more, 1 + more / (s.every * step));
    });
}

// ---- going on

constexpr int members = 3;
/// What members write for all to see.
struct board {
    std::atomic<std::int64_t> step[members];
    std::atomic<int> count[members];
    std::atomic<double> at[members];   ///< when its last step was over
    std::atomic<bool> stop;
};
struct tells {
    board& to;
    int slot, pause;   ///< microseconds
    template <class Run>
    void after_step(Run& run, const data::batch_view&) {
        to.at[slot] = base::monotonic_seconds();
        to.count[slot] = run.model.session().member().count;
        to.step[slot] = run.step;
        if (to.stop) run.ask_to_stop("enough");
        if (pause > 0) ::usleep(static_cast<useconds_t>(pause));
    }
};
template <class Net>
pid_t started(Net net, int pause, const std::vector<std::string>& at, int slot, board& b) {
    return start_process(slot, [&](int rank) {
        estimator model{net, softmax_cross_entropy, adam{}, max_batch<64>,
                        elastic(multi_worker<ring>{cluster::of(at, rank, with())}), {.threads = 1}};
        const data::dataset examples = images();
        auto batches = examples | data::repeat() | data::batch(64);
        tells t{b, rank, pause};
        model.train(batches, {.max_steps = 1'000'000'000, .progress = nullptr}, t);
    });
}
template <class F>
void wait_for(F holds) {
    for (int i = 0; i < 120'000; ++i, ::usleep(1'000))
        if (holds()) return;
    throw io_error("nothing happens", "reliability", "120 s", "members that go on");
}
/// Seconds of a job's steps: its step while all are there, and what settings::what names.
struct outcome { double step, value; };

template <class Net>
outcome one_job(const settings& s, Net net, board& b) {
    new (&b) board{};
    const int pause = s.what == "heal" ? 50'000 : 0;
    const std::vector<std::string> at = loopback_addresses(members);
    pid_t all[members];
    for (int r = 0; r < members; ++r) all[r] = started(net, pause, at, r, b);
    const auto rate = [&](auto goes_on) {   // of the chief's steps, for as long as that holds, a second at most
        const std::int64_t from = b.step[0];
        const double began = b.at[0];
        for (int i = 0; i < 1000 && goes_on(); ++i) ::usleep(1'000);
        return static_cast<double>(b.step[0] - from) / (b.at[0] - began);
    };
    wait_for([&] { return b.step[0] > 20 && b.count[0] == members; });
    const double step = 1 / rate([] { return true; });
    double value = 0;
    const int last = members - 1;
    const double killed = base::monotonic_seconds();
    ::kill(all[last], s.what == "stop" ? SIGSTOP : SIGKILL);
    wait_for([&] { return b.count[0] == members - 1 && b.count[1] == members - 1; });
    value = std::max(b.at[0], b.at[1]) - killed;
    ::kill(all[last], SIGKILL);
    ::waitpid(all[last], nullptr, 0);
    if (s.what == "heal") {
        wait_for([&, from = b.step[0].load()] { return b.step[0] > from + 5; });
        const double before = rate([] { return true; });
        all[last] = started(net, pause, at, last, b);
        const double during = rate([&] { return b.count[0] == members - 1; });
        wait_for([&] { return b.count[0] == members; });
        value = during / before;
    }
    b.stop = true;
    for (int r = 0; r < members; ++r)
        if (r != last || s.what == "heal") ::waitpid(all[r], nullptr, 0);
    return {step, value};
}
int going_on(const settings& s) {
    void* const memory = ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw io_error("no memory to share", "mmap", "MAP_FAILED", "a page");
    std::vector<double> steps, values;
    for (int i = 0; i < s.rounds; ++i) {
        const outcome o = s.what == "heal" ? one_job(s, large, *static_cast<board*>(memory))
                                           : one_job(s, mlp, *static_cast<board*>(memory));
        steps.push_back(1e3 * o.step), values.push_back(o.value);
    }
    std::printf("{\"system\": \"sinter\", \"what\": \"%s\", \"ranks\": %d, \"step_ms\": %.3f, \"%s\": %.4f}\n",
                s.what == "heal" ? "heal" : s.what == "kill" ? "recover, killed" : "recover, stopped", members,
                median(steps), s.what == "heal" ? "ratio" : "median_s", median(values));
    return 0;
}

int run(const settings& s) {
    if (s.what == "weights" || s.what == "sums") return looking(s);
    if (s.what == "kill" || s.what == "stop" || s.what == "heal") return going_on(s);
    throw option_error("nothing that is timed here", "--what", s.what, "weights, sums, kill, stop or heal");
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    const auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--what") s.what = value;
        else if (name == "--every") s.every = bench::number(name, value, 1, 100'000);
        else if (name == "--rounds") s.rounds = bench::number(name, value, 1, 1000);
        else return false;
        return true;
    };
    return with_options(argc, argv, help, take, [&] { return run(s); });
}
