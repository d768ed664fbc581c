// SPDX-License-Identifier: BSL-1.0
// labels: release
// peers: distributed
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/profile/describe_distribution.hpp>
#include <sinter/strategy/multi_worker.hpp>

#include "nets.hpp"
#include "options.hpp"

/// Plans beside measured steps: trains in several processes, each in a network namespace of its
/// own, behind a link that `tbf` holds to a rate, and plans the same from what the program and the
/// link say. Needs root, ip and tc (Debian: iproute2).
///
/// What the plan is told: the rate of the link, less Ethernet's, IP's and TCP's headers; a lone
/// worker's step, which is what it takes until all processes have made one by themselves at the
/// same time, so that it holds what they take from one another; and the latency, from all-reduces
/// of one number. These are measured in rounds between those of the steps.
namespace {
using namespace sinter;
using base::monotonic_seconds;

struct settings {
    std::string model = "cnn", algorithm = "ring";
    int processes = 2, rounds = 30;
    double megabits = 200;
    bool realtime = false;
};

constexpr int most_processes = 16, most_rounds = 10'000;

/// What the processes tell one another, in memory that they share: seconds of each round.
struct shared_times {
    double lone[most_processes][most_rounds], step[most_processes][most_rounds], latency[most_processes][most_rounds];
};

[[noreturn]] void refused(const char* what, const char* call) {
    throw io_error(what, call, std::generic_category().message(errno), "root");
}

/// Of the calling thread, and of threads that it begins; what serves links is put above what
/// computes.
void run_above_others(int priority) {
    sched_param p{};
    p.sched_priority = priority;
    if (sched_setscheduler(0, SCHED_FIFO, &p)) refused("no real-time priority", "sched_setscheduler");
}

void must(const std::string& command) {
    if (const int status = std::system(command.c_str()); status != 0)
        throw io_error("command failed", command, "status " + std::to_string(status), "root, and iproute2's ip and tc");
}

/// Trains as member `self`; `examples` of one worker's part of a batch.
template <class Algorithm, int Batch, class Net>
void train_as(int self, const settings& s, Net, const data::dataset& examples, shared_times& times) {
    std::vector<std::string> addresses;
    for (int i = 0; i < s.processes; ++i) addresses.push_back("10.77.0." + std::to_string(i + 1) + ":7000");
    if (s.realtime) run_above_others(20);
    cluster_options options;
    options.insecure = true;   // these links end in this machine
    const multi_worker<Algorithm> strategy{cluster::of(addresses, self, options), {.input = batch_input::per_worker}};
    constexpr build_options alone{Batch, program_options{.gradients = gradient_policy::reduced}};
    trainer<Net, softmax_cross_entropy_loss, adam, alone> lone(adam{}, {.threads = 1});
    using shared_trainer =
        trainer<Net, softmax_cross_entropy_loss, adam, build_options{Batch}, multi_worker<Algorithm>>;
    shared_trainer together(adam{}, strategy, {.threads = 1});
    auto batches = examples | data::batch(Batch);
    const data::batch_view& b = *batches.begin();
    together.step(b);   // begins the thread that serves links
    if (s.realtime) run_above_others(10);
    double one[1] = {0};
    const auto meet = [&] { together.session().reduce({one, 1}); };
    for (int r = -3; r < s.rounds; ++r) {   // three to warm up
        const auto timed = [&](double(&of)[most_rounds], int calls, auto f) {
            meet();
            const double began = monotonic_seconds();
            for (int i = 0; i < calls; ++i) f();
            if (r >= 0) of[r] = (monotonic_seconds() - began) / calls;
        };
        timed(times.lone[self], 1, [&] {   // until all have done theirs
            lone.step(b);
            meet();
        });
        timed(times.step[self], 1, [&] { together.step(b); });
        timed(times.latency[self], 5, meet);
    }
}

template <int Batch, class Net>
int measure(const settings& s, Net net, const data::dataset& examples) {
    if (unshare(CLONE_NEWNET)) refused("no network namespace of its own", "unshare");
    must("ip link add br0 type bridge && ip link set br0 up");
    void* const memory = mmap(nullptr, sizeof(shared_times), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) refused("no memory to share", "mmap");
    auto& times = *static_cast<shared_times*>(memory);
    std::vector<pid_t> members;
    std::vector<int> go;
    for (int i = 0; i < s.processes; ++i) {
        int ready[2], begin[2];
        if (pipe(ready) || pipe(begin)) refused("no pipe", "pipe");
        const pid_t p = fork();
        if (p == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            char c = 0;
            if (unshare(CLONE_NEWNET) || write(ready[1], &c, 1) != 1 || read(begin[0], &c, 1) != 1) _exit(1);
            try {
                if (s.algorithm == "ring") train_as<ring, Batch>(i, s, net, examples, times);
                else train_as<halving_doubling, Batch>(i, s, net, examples, times);
            } catch (const std::exception& e) {
                std::fprintf(stderr, "member %d: %s\n", i, e.what());
                _exit(1);
            }
            _exit(0);
        }
        char c = 0;
        if (p < 0 || read(ready[0], &c, 1) != 1) refused("no child", "fork");
        const std::string n = std::to_string(i), pid = std::to_string(p);
        must("ip link add h" + n + " type veth peer name e" + n + " && ip link set h" + n +
             " master br0 up && ip link set e" + n + " netns " + pid);
        must("nsenter -t " + pid + " -n sh -c 'ip link set lo up && ip addr add 10.77.0." + std::to_string(i + 1) +
             "/24 dev e" + n + " && ip link set e" + n + " up && tc qdisc add dev e" + n + " root tbf rate " +
             std::to_string(static_cast<long>(s.megabits * 1e6)) + "bit burst 16kb latency 200ms'");
        members.push_back(p);
        go.push_back(begin[1]);
    }
    for (int fd : go)
        if (write(fd, "", 1) != 1) throw io_error("a member is gone", "pipe", "nothing");
    bool whole = true;
    for (pid_t p : members) {
        int status = 0;
        waitpid(p, &status, 0);
        whole = whole && status == 0;
    }
    if (!whole) throw io_error("a member failed", "bench/planned", "see above");
    const auto median_of_slowest = [&](const double(&of)[most_processes][most_rounds]) {
        std::vector<double> all;
        for (int r = 0; r < s.rounds; ++r) {
            all.push_back(0);
            for (int i = 0; i < s.processes; ++i) all.back() = std::max(all.back(), of[i][r]);
        }
        std::sort(all.begin(), all.end());
        return all[all.size() / 2];
    };
    using model = trainer<Net, softmax_cross_entropy_loss, adam, build_options{Batch}>;
    cluster_model m;
    m.workers = s.processes;
    m.algorithm = s.algorithm == "ring" ? reduction_algorithm::ring : reduction_algorithm::halving_doubling;
    m.memory_bandwidth = m.flops / 10;   // how a step is shared out: what kernels move counts, too
    m.bandwidth = s.megabits * 1e6 / 8 * 1448 / 1514;
    const double messages =
        m.algorithm == reduction_algorithm::ring ? 2 * (s.processes - 1) : 2 * std::log2(s.processes);
    const double meeting = median_of_slowest(times.latency);
    m.latency = meeting / messages;
    m.step_seconds = std::max(median_of_slowest(times.lone) - meeting, 1e-6);
    const training_profile p = profile_of<model>();
    const distribution_plan d = plan_distribution(p, m);
    const double measured = median_of_slowest(times.step);
    std::printf(
        "{\"system\": \"sinter\", \"what\": \"planned\", \"model\": \"%s\", \"algorithm\": \"%s\", \"processes\": %d, "
        "\"megabits\": %g, \"megabytes\": %.4f, \"lone_ms\": %.3f, \"latency_us\": %.1f, \"measured_ms\": %.3f, "
        "\"planned_ms\": %.3f, \"ratio\": %.3f, \"hidden_ms\": %.3f}\n",
        s.model.c_str(), s.algorithm.c_str(), s.processes, s.megabits, p.reduced_bytes() / 1e6, 1e3 * m.step_seconds,
        1e6 * m.latency, 1e3 * measured, 1e3 * d.step, d.step / measured, 1e3 * (d.communication - d.exposed));
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    const auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--model") s.model = value;
        else if (name == "--algorithm") s.algorithm = value;
        else if (name == "--processes") s.processes = bench::number(name, value, 2, most_processes);
        else if (name == "--rounds") s.rounds = bench::number(name, value, 1, most_rounds);
        else if (name == "--realtime" && (value == "yes" || value == "no")) s.realtime = value == "yes";
        else if (name == "--megabits") s.megabits = bench::number(name, value, 1.0, 1e5);
        else return false;
        return true;
    };
    const auto run = [&] {
        if (s.algorithm != "ring" && s.algorithm != "halving_doubling")
            throw option_error("unknown algorithm", "--algorithm", s.algorithm, "ring or halving_doubling");
        using namespace bench;
        if (s.model == "cnn") return measure<64>(s, cnn, images());
        if (s.model == "gpt") return measure<16>(s, gpt, text());
        if (s.model == "mlp") return measure<64>(s, mlp, images());
        throw option_error("unknown model", "--model", s.model, "mlp, cnn or gpt");
    };
    return bench::with_options(argc, argv,
                               "planned: steps of several processes on links of a given rate, measured and planned\n"
                               "--model mlp|cnn|gpt  --algorithm ring|halving_doubling  --processes 2\n"
                               "--megabits 200  --rounds 30\n"
                               "--realtime yes: before whatever else the machine does\n"
                               "Needs root (network namespaces), ip and tc. Prints one JSON line.",
                               take, run);
}
