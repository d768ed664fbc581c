// SPDX-License-Identifier: BSL-1.0
// The time of one training step of a model, as one JSON line; batch 64, float32, the loss softmax cross entropy.
#include <algorithm>
#include <cstdio>

#include <sinter/profile/kernel_times.hpp>

#include "nets.hpp"
#include "options.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "step [--model mlp|lenet|cnn|quickstart] [--optimizer sgd|adam] [--threads N] [--seconds S] [--kernels 0|1]\n"
    "Times training steps for S seconds (default 2) and prints one JSON line. --threads 0: all cores; default 1.\n"
    "--kernels 1: a table of every kernel's time, rate and share goes to standard error first.";

struct settings {
    std::string model = "cnn", optimizer = "sgd";
    int threads = 1;
    double seconds = 2;
    bool kernels = false;
};

template <class Net, class Optimizer>
int run(Net, Optimizer optimizer, const settings& s) {
    trainer<Net, softmax_cross_entropy_loss, Optimizer> t(optimizer, {.threads = s.threads});
    auto batches = bench::examples() | data::batch(64);
    if (s.kernels) {
        auto endless = bench::examples() | data::repeat() | data::batch(64);
        auto next = endless.begin();
        profile::kernel_times(t, [&]() -> const data::batch_view& { return *++next; }, 200, stderr);
    }
    std::vector<double> ms;
    float loss = 0;
    const double began = monotonic_seconds();
    for (int round = 0; round < 2 || monotonic_seconds() - began < s.seconds; ++round)   // a round: sixteen different batches
        for (const data::batch_view& b : batches) {
            const double t0 = monotonic_seconds();
            loss = t.step(b);
            if (round) ms.push_back(1e3 * (monotonic_seconds() - t0));
        }
    std::sort(ms.begin(), ms.end());
    std::printf("{\"system\": \"sinter\", \"model\": \"%s\", \"optimizer\": \"%s\", \"threads\": %d, \"median_ms\": %.5f, "
                "\"best_ms\": %.5f, \"steps\": %zu, \"loss\": %.5f, \"bytes\": %lld}\n",
                s.model.c_str(), s.optimizer.c_str(), t.threads(), ms[ms.size() / 2], ms.front(), ms.size(),
                static_cast<double>(loss), static_cast<long long>(t.bytes()));
    return 0;
}

template <class Net>
int with_optimizer(Net net, const settings& s) {
    if (s.optimizer == "sgd") return run(net, sgd{.learning_rate = 0.01f}, s);
    if (s.optimizer == "adam") return run(net, adam{}, s);
    throw option_error("unknown optimizer", "--optimizer", s.optimizer, "sgd or adam");
}

int dispatch(const settings& s) {
    if (s.model == "mlp") return with_optimizer(bench::mlp, s);
    if (s.model == "lenet") return with_optimizer(bench::lenet, s);
    if (s.model == "cnn") return with_optimizer(bench::cnn, s);
    if (s.model == "quickstart") return with_optimizer(bench::quickstart, s);
    throw option_error("unknown model", "--model", s.model, "mlp, lenet, cnn or quickstart");
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--model") s.model = value;
        else if (name == "--optimizer") s.optimizer = value;
        else if (name == "--threads") s.threads = bench::number(name, value, 0, 1024);
        else if (name == "--kernels") s.kernels = bench::number(name, value, 0, 1) != 0;
        else if (name == "--seconds") s.seconds = bench::number(name, value, 0., 3600.);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] { return dispatch(s); });
}
