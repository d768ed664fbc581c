// SPDX-License-Identifier: BSL-1.0
// labels: release
// peers: distributed
// What a net knows after so many updates by gradients of older weights: workers and parameter servers as processes of
// this machine, Fashion-MNIST. Prints one JSON line.
#include <cmath>
#include <sinter/base/decimal.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/data/source/idx.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/parameter_server/calls.hpp>
#include <sinter/sinter.hpp>
#include <zoo/mlp.hpp>

#include "local_cluster.hpp"
#include "options.hpp"
#include "processes.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "staleness [--mode M] [--workers W] [--servers S] [--optimizer adam|momentum|sgd] [--rate R]\n"
    "          [--steps N] [--every K] [--batch B] [--seed X]\n"
    "Trains a perceptron 784-128-10 on Fashion-MNIST (in $SINTER_DATA/fashion-mnist) by N updates (default 4000),\n"
    "each by B examples (64), and says what it made of the test images after each K of them (200), and how stale\n"
    "gradients were.\n"
    "  --mode       async (default), stale:0, stale:3, stale:10, sync:1, or single: one process, no servers. Under\n"
    "               async each worker has batches of its own, and each one's gradient is an update; else workers\n"
    "               share a batch\n"
    "  --workers    default 2; --servers: default 1\n"
    "  --optimizer  adam (default), momentum (of 0.9), sgd; --rate: its learning rate (0.001)\n"
    "  --seed       of the first weights and of the order of examples (1)";

struct settings {
    std::string mode = "async", optimizer = "adam";
    int workers = 2, servers = 1, batch = 64;
    float rate = 1e-3f;
    std::int64_t steps = 4000, every = 200;
    std::uint64_t seed = 1;
};
struct images {
    data::dataset train, test;
};
constexpr int largest_batch = 256;
constexpr auto net = zoo::mlp<10, 128>;

images read_images() {
    const char* const folder = std::getenv("SINTER_DATA");
    if (!folder) throw option_error("no data", "SINTER_DATA", "not set", "the folder in which fashion-mnist lies");
    const auto set = [&](const std::string& name) {
        const std::string files = std::string(folder) + "/fashion-mnist/" + name;
        return data::idx(files + "-images-idx3-ubyte.gz", files + "-labels-idx1-ubyte.gz", 10);
    };
    return {set("train"), set("t10k")};
}

/// A hook: the chief's copies of the weights. They are measured when all is over: workers whose chief stops to evaluate
/// would be those of another job.
struct snapshots {
    std::int64_t every;
    std::vector<std::int64_t> steps{};
    std::vector<std::vector<std::vector<float>>> weights{};
    std::string counters = "null";   ///< the first server's

    void after_step(auto& run, const data::batch_view&) {
        const std::int64_t last = steps.empty() ? 0 : steps.back();
        if (run.chief && run.step / every > last / every && run.step < run.max_steps) take(run);
    }
    void end(auto& run) {
        if (!run.chief) return;
        take(run);
        counters = counters_of(run.model.session());
    }

private:
    template <class Programs, class Optimizer>
    static std::string counters_of(strategy_parts::server_session<Programs, Optimizer>& s) {
        return s.client()->call(0, parameter_servers::calls::get_counters()).json;
    }
    static std::string counters_of(const session_base&) { return "null"; }   // of a strategy without servers
    void take(auto& run) {
        auto& model = run.model;
        steps.push_back(run.step);
        weights.emplace_back();
        for (int i = 0; i < model.parameters(); ++i) weights.back().push_back(model.plain(model.parameter(i)));
    }
};

/// The curve: what the test images show of each copy.
void print(const settings& s, const snapshots& kept, const data::dataset& test_images, double seconds) {
    estimator reader{net, softmax_cross_entropy, sgd{}, max_batch<largest_batch>, trainer_options{.threads = 2}};
    auto test = data::source(test_images) | data::batch(largest_batch);
    std::string steps, accuracy, loss;
    for (std::size_t k = 0; k < kept.steps.size(); ++k) {
        auto& model = reader.inner();
        for (int i = 0; i < model.parameters(); ++i)
            model.set_plain(model.parameter(i), kept.weights[k][static_cast<std::size_t>(i)].data());
        const evaluation_result e = reader.evaluate(test);
        const char* const comma = k ? ", " : "";
        steps += comma + std::to_string(kept.steps[k]);
        accuracy += comma + base::fixed_text(e.accuracy, 4);
        loss += comma + (std::isfinite(e.loss) ? base::fixed_text(e.loss, 4) : "null");
    }
    const bool single = s.mode == "single";
    std::printf("{\"system\": \"sinter\", \"what\": \"curve\", \"model\": \"mlp\", \"mode\": \"%s\", \"workers\": %d, "
                "\"servers\": %d, \"optimizer\": \"%s\", \"rate\": %g, \"batch\": %d, \"seed\": %llu, "
                "\"seconds\": %.2f, \"steps\": [%s], \"accuracy\": [%s], \"loss\": [%s], \"counters\": %s}\n",
                s.mode.c_str(), single ? 1 : s.workers, single ? 0 : s.servers, s.optimizer.c_str(),
                static_cast<double>(s.rate), s.batch, static_cast<unsigned long long>(s.seed), seconds, steps.c_str(),
                accuracy.c_str(), loss.c_str(), kept.counters.c_str());
}

/// `order`: of the examples of this process.
void train(auto model, const settings& s, const images& all, std::uint64_t order) {
    auto training = data::source(all.train) | data::shuffle(60'000, order) | data::batch(s.batch);
    snapshots kept{s.every};
    const double began = base::monotonic_seconds();
    model.train(training, {.max_steps = s.steps, .progress = nullptr, .not_finite = on_not_finite::stop}, kept);
    if (!kept.steps.empty()) print(s, kept, all.test, base::monotonic_seconds() - began);
}

template <auto Mode>
int with_servers(auto optimizer, const settings& s, const images& all) {
    const std::vector<std::string> addresses = bench::loopback_addresses(s.workers + s.servers);
    constexpr bool asynchronous = Mode.order().mode == parameter_servers::update_mode::async;
    return bench::in_processes(s.workers + s.servers, [&](int i) {
        const parameter_server<Mode> strategy{
            bench::workers_and_servers(addresses, s.workers, i, bench::keyed_job())};
        train(estimator{net, softmax_cross_entropy, optimizer, max_batch<largest_batch>, strategy,
                        trainer_options{.threads = 1, .seed = s.seed}},
              s, all, s.seed + (asynchronous ? 1000 * static_cast<std::uint64_t>(i) : 0));
    });
}
int run_with(auto optimizer, const settings& s) {
    const images all = read_images();
    if (s.mode == "single") {
        train(estimator{net, softmax_cross_entropy, optimizer, max_batch<largest_batch>,
                        trainer_options{.threads = 1, .seed = s.seed}},
              s, all, s.seed);
        return 0;
    }
    if (s.mode == "async") return with_servers<async>(optimizer, s, all);
    if (s.mode == "stale:0") return with_servers<stale<0>>(optimizer, s, all);
    if (s.mode == "stale:3") return with_servers<stale<3>>(optimizer, s, all);
    if (s.mode == "stale:10") return with_servers<stale<10>>(optimizer, s, all);
    if (s.mode == "sync:1") return with_servers<sync<1>()>(optimizer, s, all);
    throw option_error("unknown mode", "--mode", s.mode, "one of those that --help lists");
}
int run(const settings& s) {
    if (s.optimizer == "adam") return run_with(adam{.learning_rate = s.rate}, s);
    if (s.optimizer == "momentum" || s.optimizer == "sgd")
        return run_with(momentum{.learning_rate = s.rate, .momentum_rate = s.optimizer == "sgd" ? 0.f : 0.9f}, s);
    throw option_error("unknown optimizer", "--optimizer", s.optimizer, "adam, momentum or sgd");
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    const auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--mode") s.mode = value;
        else if (name == "--optimizer") s.optimizer = value;
        else if (name == "--workers") s.workers = bench::number(name, value, 1, 64);
        else if (name == "--servers") s.servers = bench::number(name, value, 1, 64);
        else if (name == "--batch") s.batch = bench::number(name, value, 1, largest_batch);
        else if (name == "--rate") s.rate = bench::number(name, value, 0.f, 1e6f);
        else if (name == "--steps") s.steps = bench::number<std::int64_t>(name, value, 1, 100'000'000);
        else if (name == "--every") s.every = bench::number<std::int64_t>(name, value, 1, 100'000'000);
        else if (name == "--seed") s.seed = bench::number<std::uint64_t>(name, value, 0, ~std::uint64_t{0});
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] { return run(s); });
}
