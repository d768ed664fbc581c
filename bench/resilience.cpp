// SPDX-License-Identifier: BSL-1.0
// peers: distributed
// What checks of a job's members cost, and what its steps lose to a member that dies or comes again; as one JSON line.
#include <sys/mman.h>

#include <atomic>

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
    "resilience [--what W] [--model mlp|cnn] [--ranks N] [--every N] [--rounds R]\n"
    "  --what    replicas (default): the time of steps of which one in N compares all members' weights (check_replicas),\n"
    "            over that of steps that do not; sums: of steps whose sums are checked once in N (check_sums_every).\n"
    "            Both kinds of steps are made by the same processes in turns.\n"
    "            recovery: from SIGKILL of one member until the others have made their next step.\n"
    "            healing: steps a second of a job while a member that has come again is being healed, over those before\n"
    "            it came.\n"
    "  --model   default mlp; each member has one thread, the global batch has 64 examples\n"
    "  --ranks   processes on loopback (default 2; recovery: 3). The last one dies.\n"
    "  --every   default 100\n"
    "  --rounds  default 9";

struct options {
    std::string what = "replicas", model = "mlp";
    int ranks = 0, every = 100, rounds = 9;
    int members() const { return ranks > 0 ? ranks : what == "recovery" ? 3 : 2; }
};
constexpr int largest_batch = 64;

cluster cluster_of(const std::vector<std::string>& at, int rank) {
    cluster_options with;
    with.job = "resilience";
    with.key = "a key of the benchmark's own";
    return cluster::of(at, rank, with);
}
template <class Net, class Strategy>
auto trainer_of(Net net, const Strategy& s) {
    return trainer{net, softmax_cross_entropy, adam{}, max_batch<largest_batch>, s, trainer_options{.threads = 1}};
}

// ---- What checks cost

/// What the hook asks of a run.
template <class Trainer>
struct checked_run {
    Trainer& model;
    std::int64_t step = 0;
    static constexpr bool alone = false;
};
/// Seconds of blocks of `every` steps without and with the check, in turns.
template <class Plain, class Checked>
void time_blocks(Plain& plain, Checked& checked, const options& o) {
    const data::dataset examples = images();
    auto batches = examples | data::repeat() | data::batch(largest_batch);
    auto next = batches.begin();
    check_replicas compare(o.every);
    const auto seconds = [&](auto& t, bool compares) {
        double nothing = 0;
        t.session().reduce({&nothing, 1});   // begin together
        const double began = base::monotonic_seconds();
        checked_run<std::remove_reference_t<decltype(t)>> run{t};
        for (int i = 0; i < o.every; ++i, ++next) {
            t.step(*next);
            ++run.step;
            if (compares) compare.after_step(run, *next);
        }
        return base::monotonic_seconds() - began;
    };
    std::vector<double> without, with;
    const bool by_hook = o.what == "replicas";
    for (int i = 0; i < o.rounds + 1; ++i) {   // the first warms up
        const double a = seconds(plain, false), b = seconds(checked, by_hook);
        if (i > 0) without.push_back(a), with.push_back(b);
    }
    if (!plain.session().member().chief()) return;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < with.size(); ++i) ratios.push_back(with[i] / without[i]);
    const auto middle = [](std::vector<double> x) {
        std::sort(x.begin(), x.end());
        return x[x.size() / 2];
    };
    std::printf("{\"system\": \"sinter\", \"what\": \"%s\", \"model\": \"%s\", \"ranks\": %d, \"every\": %d, \"median_ms\": %.5f, "
                "\"ratio\": %.4f}\n",
                o.what.c_str(), o.model.c_str(), o.members(), o.every, 1e3 * middle(without) / o.every, middle(ratios));
}
template <class Net>
int checks(Net net, const options& o) {
    const std::vector<std::string> one = loopback_addresses(2 * o.members());
    const std::vector<std::string> other(one.begin() + o.members(), one.end());
    const std::vector<std::string> first(one.begin(), one.begin() + o.members());
    return in_processes(o.members(), [&](int rank) {
        auto plain = trainer_of(net, multi_worker<ring>{cluster_of(first, rank)});
        auto checked = trainer_of(
            net, multi_worker<ring>{cluster_of(other, rank), {.check_sums_every = o.what == "sums" ? o.every : 0}});
        time_blocks(plain, checked, o);
    });
}

// ---- Members that die and come again

/// What the members of one job tell each other, in memory that they share.
struct moments {
    static constexpr int most = 1 << 20;
    std::atomic<bool> stop;
    std::atomic<int> steps;      // of the chief
    double ends[most];           // when each of them ended
    std::atomic<double> came;    // when the member that comes again began
    std::atomic<double> healed;  // and had made its first step
    void clear() {
        stop = false;
        steps = 0;
        came = healed = 0;
    }
};
struct notes {
    moments& m;
    bool chief, again;
    void after_step(auto& run, const data::batch_view&) {
        const double now = base::monotonic_seconds();
        if (again && m.healed == 0) m.healed = now;
        if (chief) {
            if (const int n = m.steps; n < moments::most) m.ends[n] = now, ++m.steps;
            if (m.stop) run.ask_to_stop("enough");
        }
    }
};
template <class Net>
void live(Net net, const std::vector<std::string>& at, int rank, bool again, moments& m) {
    if (again) m.came = base::monotonic_seconds();
    estimator model{net, softmax_cross_entropy, adam{}, max_batch<largest_batch>, elastic(multi_worker<ring>{cluster_of(at, rank)}),
                    {.threads = 1}};
    auto batches = images() | data::batch(largest_batch);
    notes n{m, rank == 0, again};
    model.train(batches, {.epochs = 1 << 20, .progress = nullptr}, n);
}
/// Waits until it is so.
template <class F>
void until(F is_so, const char* what) {
    for (int i = 0; !is_so(); ++i) {
        if (i > 60'000) throw io_error("it did not come to pass within a minute", "resilience", what, "members that train");
        ::usleep(1'000);
    }
}
/// Milliseconds of the step that the death interrupted, or the ratio of steps a second.
template <class Net>
double one_job(Net net, const options& o, moments& m) {
    m.clear();
    const std::vector<std::string> at = loopback_addresses(o.members());
    std::vector<pid_t> all;
    const auto begin = [&](int rank, bool again) { all.push_back(start_process(rank, [&](int r) { live(net, at, r, again, m); })); };
    for (int r = 0; r < o.members(); ++r) begin(r, false);
    const auto more_steps = [&](int n) { until([&, to = m.steps + n] { return m.steps >= to; }, "steps"); };
    more_steps(200);
    const double killed = base::monotonic_seconds();
    const int before = m.steps;
    ::kill(all.back(), SIGKILL);
    ::waitpid(all.back(), nullptr, 0);
    all.pop_back();
    more_steps(200);
    double result = 0;
    if (o.what == "recovery") {
        for (int i = std::max(1, before - 1); i < m.steps && m.ends[i - 1] < killed + 10; ++i)
            result = std::max(result, 1e3 * (m.ends[i] - std::max(killed, m.ends[i - 1])));
    } else {
        const double from = base::monotonic_seconds();
        ::usleep(500'000);
        begin(o.members() - 1, true);
        until([&] { return m.healed > 0; }, "healing");
        const auto rate = [&](double a, double b) {
            return static_cast<double>(std::count_if(m.ends, m.ends + m.steps, [&](double x) { return x > a && x <= b; })) / (b - a);
        };
        result = rate(m.came, m.healed) / rate(from, m.came);
    }
    m.stop = true;
    for (const pid_t p : all) ::waitpid(p, nullptr, 0);
    return result;
}
template <class Net>
int deaths(Net net, const options& o) {
    void* const memory = ::mmap(nullptr, sizeof(moments), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw io_error("no memory to share", "mmap", "MAP_FAILED", "memory for times of steps");
    std::vector<double> all;
    for (int i = 0; i < o.rounds; ++i) all.push_back(one_job(net, o, *static_cast<moments*>(memory)));
    std::sort(all.begin(), all.end());
    const char* const unit = o.what == "recovery" ? "ms" : "ratio";
    std::printf("{\"system\": \"sinter\", \"what\": \"%s\", \"model\": \"%s\", \"ranks\": %d, \"median_%s\": %.4f, \"least_%s\": %.4f, "
                "\"most_%s\": %.4f}\n",
                o.what.c_str(), o.model.c_str(), o.members(), unit, all[all.size() / 2], unit, all.front(), unit, all.back());
    return 0;
}

template <class Net>
int run_net(Net net, const options& o) {
    if (o.what == "replicas" || o.what == "sums") return checks(net, o);
    if (o.what == "recovery" || o.what == "healing") return deaths(net, o);
    throw option_error("nothing that is timed here", "--what", o.what, "replicas, sums, recovery or healing");
}
int run(const options& o) {
    if (o.model == "mlp") return run_net(mlp, o);
    if (o.model == "cnn") return run_net(cnn, o);
    throw option_error("unknown model", "--model", o.model, "mlp or cnn");
}

} // namespace

int main(int argc, char** argv) {
    options o;
    const auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--what") o.what = value;
        else if (name == "--model") o.model = value;
        else if (name == "--ranks") o.ranks = bench::number(name, value, 2, 16);
        else if (name == "--every") o.every = bench::number(name, value, 1, 100'000);
        else if (name == "--rounds") o.rounds = bench::number(name, value, 1, 1000);
        else return false;
        return true;
    };
    return with_options(argc, argv, help, take, [&] { return run(o); });
}
