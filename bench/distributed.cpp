// SPDX-License-Identifier: BSL-1.0
// labels: release
// The time of one training step of several replicas or processes on this machine, as one JSON line.
// peers: distributed
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/distributed.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/parameter_server.hpp>

#include "local_cluster.hpp"
#include "nets.hpp"
#include "options.hpp"
#include "parameter_server/job.hpp"
#include "processes.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "distributed [--model small|mlp|lenet|cnn|gpt] [--strategy S] [--processes N] [--batch GLOBAL]\n"
    "            [--optimizer sgd|adam] [--seconds S]\n"
    "Times training steps for S seconds (default 2) and prints one JSON line. S is single, mirrored:2 or mirrored:4\n"
    "(replicas in this process; plain mirrored: --processes of them), or multi_worker:ring,\n"
    "multi_worker:halving_doubling, multi_worker:automatic, multi_worker:shared_memory: --processes processes on\n"
    "loopback. Each replica and process has one thread; single has --threads N. Defaults: mlp, multi_worker:ring, 2\n"
    "processes, 64 examples, adam.\n"
    "--addresses HOST:PORT,... --rank R: of multi_worker, members that are started by hand, of which this one is R.\n"
    "small has 38 KB of parameters: single and multi_worker:ring, adam.\n"
    "lenet: single, mirrored:2 and multi_worker:ring, adam.\n"
    "parameter_server:async, parameter_server:stale:3, parameter_server:sync:0, parameter_server:sync:1 (mlp, cnn,\n"
    "adam): --workers W and --servers S processes (default 2 and 1); --batch is each worker's, and the steps a\n"
    "second are those of all workers together, the milliseconds those of the first worker's step.";

struct settings {
    std::string model = "mlp", strategy = "multi_worker:ring", optimizer = "adam";
    int processes = 2, batch = 64, threads = 1, workers = 2, servers = 1;
    double seconds = 2;
    std::vector<std::string> addresses{};   // empty: all members are started here
    int rank = 0;
};
constexpr int largest_batch = 256;
// 38 KB: what a step costs beside its work.
constexpr auto small = image<28, 28, 1> >> flatten >> dense<12> >> relu >> dense<10>;

/// Every member does as many steps as every other: the chief says how many a sample has.
template <class Trainer>
void time_steps(Trainer& t, const data::dataset& examples, const settings& s) {
    auto batches = examples | data::repeat() | data::batch(s.batch);
    auto next = batches.begin();
    const auto run = [&](std::int64_t n) {
        const double began = base::monotonic_seconds();
        for (std::int64_t i = 0; i < n; ++i) t.step(*next), ++next;
        return base::monotonic_seconds() - began;
    };
    run(20);
    double took = run(10) / 10;
    const auto agree = [&](double x) {   // the chief's
        if (!t.session().member().chief()) x = 0;
        t.session().reduce({&x, 1});
        return x;
    };
    took = agree(took);
    const std::int64_t steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(0.02 / took));
    const int samples = std::max(5, static_cast<int>(s.seconds / (static_cast<double>(steps) * took)));
    std::vector<double> ms;
    for (int i = 0; i < samples; ++i) {
        agree(0);   // begin together
        ms.push_back(1e3 * run(steps) / static_cast<double>(steps));
    }
    if (!t.session().member().chief()) return;
    std::sort(ms.begin(), ms.end());
    const double median = ms[ms.size() / 2];
    std::int64_t bytes = 0;
    for (int i = 0; i < t.parameters(); ++i) bytes += 4 * t.parameter(i).s.size();
    std::printf(
        "{\"system\": \"sinter\", \"what\": \"step\", \"model\": \"%s\", \"strategy\": \"%s\", \"ranks\": %d, "
        "\"batch\": %d, \"optimizer\": \"%s\", \"gradient_bytes\": %lld, \"median_ms\": %.5f, \"best_ms\": %.5f, "
        "\"steps_per_s\": %.2f}\n",
        s.model.c_str(), s.strategy.c_str(), s.strategy == "single" ? 1 : s.processes, s.batch, s.optimizer.c_str(),
        static_cast<long long>(bytes), median, ms.front(), 1e3 / median);
}

template <class Algorithm, class Net, class Optimizer>
int multi(Net net, Optimizer optimizer, const data::dataset& examples, const settings& s) {
    const bool by_hand = !s.addresses.empty();
    const std::vector<std::string> addresses = by_hand ? s.addresses : bench::loopback_addresses(s.processes);
    const auto work = [&](int rank) {
        const multi_worker<Algorithm> strategy{cluster::of(addresses, rank, bench::keyed_job())};
        trainer t{net, softmax_cross_entropy, optimizer, max_batch<largest_batch>, strategy,
                  trainer_options{.threads = 1}};
        time_steps(t, examples, s);
    };
    if (!by_hand) return bench::in_processes(s.processes, work);
    return work(s.rank), 0;
}
template <int N, class Net, class Optimizer>
int replicas(Net net, Optimizer optimizer, const data::dataset& examples, const settings& s) {
    trainer t{net, softmax_cross_entropy, optimizer, max_batch<largest_batch>, mirrored<N>{},
              trainer_options{.threads = N}};
    time_steps(t, examples, s);
    return 0;
}

/// Workers make the same number of steps; the slowest one's time counts.
template <auto Mode, class Net>
int with_servers(Net net, const settings& s) {
    const data::dataset examples = bench::images();
    const std::vector<std::string> addresses = bench::loopback_addresses(s.workers + s.servers);
    constexpr bool asynchronous = Mode.order().mode == parameter_servers::update_mode::async;
    bench::tally shared;
    const int worst = bench::in_processes(s.workers + s.servers, [&](int i) {
        const parameter_server<Mode> strategy{
            bench::workers_and_servers(addresses, s.workers, i, bench::keyed_job())};
        trainer t{net, softmax_cross_entropy, adam{}, max_batch<largest_batch>, strategy,
                  trainer_options{.threads = 1}};
        if (t.has_served()) return;
        auto batches = examples | data::repeat() | data::batch(asynchronous ? s.batch : s.batch * s.workers);
        auto next = batches.begin();
        std::vector<double> ms;
        const auto run = [&](std::int64_t n) {
            const double began = base::monotonic_seconds();
            double last = began;
            for (std::int64_t k = 0; k < n; ++k) {
                t.step(*next), ++next;
                const double now = base::monotonic_seconds();
                ms.push_back(1e3 * (now - last));
                last = now;
            }
            return last - began;
        };
        run(50);
        shared.meet(s.workers);
        const double took = run(100) / 100;
        if (i == 0) shared.at().steps = std::max<std::int64_t>(100, static_cast<std::int64_t>(s.seconds / took));
        shared.meet(s.workers);
        const std::int64_t steps = shared.at().steps;
        ms.clear();
        shared.at().steps_per_s[i] = static_cast<double>(steps) / run(steps);
        std::sort(ms.begin(), ms.end());
        shared.at().median_ms[i] = ms[ms.size() / 2];
        if (i == 0) shared.at().best_ms = ms.front();
        shared.meet(s.workers);
        t.end_training();
    });
    if (worst != 0) return worst;
    const bench::tally::shared& all = shared.at();
    std::printf(
        "{\"system\": \"sinter\", \"what\": \"step\", \"model\": \"%s\", \"strategy\": \"%s\", \"ranks\": %d, "
        "\"servers\": %d, \"workers\": %d, \"batch\": %d, \"optimizer\": \"adam\", \"median_ms\": %.5f, "
        "\"best_ms\": %.5f, \"steps_per_s\": %.1f}\n",
        s.model.c_str(), s.strategy.c_str(), s.workers + s.servers, s.servers, s.workers, s.batch, all.median_ms[0],
        all.best_ms, s.workers * *std::min_element(all.steps_per_s, all.steps_per_s + s.workers));
    return 0;
}
template <class Net>
int with_servers(Net net, const settings& s) {
    if (s.strategy == "parameter_server:async") return with_servers<async>(net, s);
    if (s.strategy == "parameter_server:stale:3") return with_servers<stale<3>>(net, s);
    if (s.strategy == "parameter_server:sync:0") return with_servers<sync<0>()>(net, s);
    if (s.strategy == "parameter_server:sync:1") return with_servers<sync<1>()>(net, s);
    throw option_error("unknown strategy", "--strategy", s.strategy, "one of those that --help lists");
}
int with_servers(const settings& s) {
    if (s.optimizer == "adam" && s.model == "mlp") return with_servers(bench::mlp, s);
    if (s.optimizer == "adam" && s.model == "cnn") return with_servers(bench::cnn, s);
    throw option_error("not with parameter servers here", "--model, --optimizer", s.model + ", " + s.optimizer,
                       "mlp or cnn, adam");
}

template <class Net, class Optimizer>
int run_with(Net net, Optimizer optimizer, const data::dataset& examples, const settings& s) {
    if (s.strategy == "single") {
        trainer t{net, softmax_cross_entropy, optimizer, max_batch<largest_batch>,
                  trainer_options{.threads = s.threads}};
        time_steps(t, examples, s);
        return 0;
    }
    if (s.strategy == "mirrored" && s.processes == 2) return replicas<2>(net, optimizer, examples, s);
    if (s.strategy == "mirrored" && s.processes == 4) return replicas<4>(net, optimizer, examples, s);
    if (s.strategy == "mirrored")
        throw option_error("no such number of replicas here", "--processes", std::to_string(s.processes), "2 or 4");
    if (s.strategy == "multi_worker:ring") return multi<ring>(net, optimizer, examples, s);
    if (s.strategy == "multi_worker:halving_doubling") return multi<halving_doubling>(net, optimizer, examples, s);
    if (s.strategy == "multi_worker:automatic") return multi<automatic>(net, optimizer, examples, s);
    if (s.strategy == "multi_worker:shared_memory") return multi<shared_memory>(net, optimizer, examples, s);
    throw option_error("unknown strategy", "--strategy", s.strategy, "one of those that --help lists");
}
template <class Net>
int run_net(Net net, const data::dataset& examples, const settings& s) {
    if (s.optimizer == "sgd") return run_with(net, sgd{.learning_rate = 0.01f}, examples, s);
    if (s.optimizer == "adam") return run_with(net, adam{}, examples, s);
    throw option_error("unknown optimizer", "--optimizer", s.optimizer, "sgd or adam");
}
int run_small(const settings& s) {
    if (s.strategy != "single" && s.strategy != "multi_worker:ring")
        throw option_error("not with the small model", "--strategy", s.strategy, "single or multi_worker:ring");
    if (s.strategy == "multi_worker:ring") return multi<ring>(small, adam{}, bench::images(), s);
    trainer t{small, softmax_cross_entropy, adam{}, max_batch<largest_batch>, trainer_options{.threads = s.threads}};
    return time_steps(t, bench::images(), s), 0;
}
int run_lenet(const settings& s) {
    const bool mirrors = s.strategy == "mirrored" && s.processes == 2;
    if (s.optimizer != "adam" || (s.strategy != "single" && s.strategy != "multi_worker:ring" && !mirrors))
        throw option_error("not with lenet here", "--strategy, --processes, --optimizer",
                           s.strategy + ", " + std::to_string(s.processes) + ", " + s.optimizer,
                           "single, multi_worker:ring or mirrored of 2, adam");
    if (s.strategy == "multi_worker:ring") return multi<ring>(bench::lenet, adam{}, bench::images(), s);
    if (mirrors) return replicas<2>(bench::lenet, adam{}, bench::images(), s);
    trainer t{bench::lenet, softmax_cross_entropy, adam{}, max_batch<largest_batch>,
              trainer_options{.threads = s.threads}};
    return time_steps(t, bench::images(), s), 0;
}
int run(settings s) {
    if (s.strategy.starts_with("mirrored:")) {
        s.processes = bench::number("--strategy mirrored:N", s.strategy.substr(9), 2, 4);
        s.strategy = "mirrored";
    }
    if (!s.addresses.empty() && !s.strategy.starts_with("multi_worker"))
        throw option_error("members by hand", "--addresses", s.strategy, "--strategy multi_worker:...");
    if (s.strategy.starts_with("parameter_server")) return with_servers(s);
    if (s.model == "small") return run_small(s);
    if (s.model == "mlp") return run_net(bench::mlp, bench::images(), s);
    if (s.model == "lenet") return run_lenet(s);
    if (s.model == "cnn") return run_net(bench::cnn, bench::images(), s);
    if (s.model == "gpt") return run_net(bench::gpt, bench::text(), s);
    throw option_error("unknown model", "--model", s.model, "small, mlp, lenet, cnn or gpt");
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    const auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--model") s.model = value;
        else if (name == "--strategy") s.strategy = value;
        else if (name == "--optimizer") s.optimizer = value;
        else if (name == "--processes") s.processes = bench::number(name, value, 1, 64);
        else if (name == "--workers") s.workers = bench::number(name, value, 1, 16);
        else if (name == "--servers") s.servers = bench::number(name, value, 1, 16);
        else if (name == "--batch") s.batch = bench::number(name, value, 1, largest_batch);
        else if (name == "--threads") s.threads = bench::number(name, value, 0, 1024);
        else if (name == "--seconds") s.seconds = bench::number(name, value, 0., 3600.);
        else if (name == "--addresses") {
            s.addresses = bench::split(value);
            s.processes = static_cast<int>(s.addresses.size());
        }
        else if (name == "--rank") s.rank = bench::number(name, value, 0, 63);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] { return run(s); });
}
