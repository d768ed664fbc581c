// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstdio>

#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/profile/kernel_times.hpp>

#include "nets.hpp"
#include "options.hpp"

/// What the programs that time training steps share: their options, and how a step is timed.
namespace sinter::bench {
using namespace base;

struct step_settings {
    std::string model, optimizer = "sgd";
    int threads = 1;
    double seconds = 2;
    bool kernels = false;
    int kernel_steps = 200;   ///< over which a kernel's median is taken
};

/// Trains on the examples' batches in turn, over all of them once and then for the seconds asked;
/// prints one JSON line.
template <int Batch, class Loss = softmax_cross_entropy_loss, program_options O = program_options{}, class Net,
          class Optimizer>
int time_step(Net, Optimizer optimizer, const data::dataset& examples, const step_settings& s) {
    trainer<Net, Loss, Optimizer, build_options{Batch, O}> t(optimizer, {.threads = s.threads});
    auto batches = examples | data::batch(Batch);
    if (s.kernels) {
        auto endless = examples | data::repeat() | data::batch(Batch);
        auto next = endless.begin();
        profile::kernel_times(t, [&]() -> const data::batch_view& { return *++next; }, s.kernel_steps, stderr);
    }
    std::vector<double> ms;
    float loss = 0;
    const double began = monotonic_seconds();
    for (int round = 0; round < 2 || monotonic_seconds() - began < s.seconds; ++round)
        for (const data::batch_view& b : batches) {
            const double t0 = monotonic_seconds();
            loss = t.step(b);
            if (round) ms.push_back(1e3 * (monotonic_seconds() - t0));
        }
    std::sort(ms.begin(), ms.end());
    std::printf(
        "{\"system\": \"sinter\", \"model\": \"%s\", \"optimizer\": \"%s\", \"threads\": %d, \"median_ms\": %.5f, "
        "\"best_ms\": %.5f, \"steps\": %zu, \"loss\": %.5f, \"bytes\": %lld}\n",
        s.model.c_str(), s.optimizer.c_str(), t.threads(), ms[ms.size() / 2], ms.front(), ms.size(),
        static_cast<double>(loss), static_cast<long long>(t.bytes()));
    return 0;
}

template <int Batch, class Loss = softmax_cross_entropy_loss, class Net>
int time_step(Net net, const data::dataset& examples, const step_settings& s) {
    if (s.optimizer == "sgd") return time_step<Batch, Loss>(net, sgd{.learning_rate = 0.01f}, examples, s);
    if (s.optimizer == "adam") return time_step<Batch, Loss>(net, adam{}, examples, s);
    throw option_error("unknown optimizer", "--optimizer", s.optimizer, "sgd or adam");
}

template <class Run>
int step_main(int argc, char** argv, const char* help, step_settings s, Run run) {
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--model") s.model = value;
        else if (name == "--optimizer") s.optimizer = value;
        else if (name == "--threads") s.threads = number(name, value, 0, 1024);
        else if (name == "--kernels") s.kernels = number(name, value, 0, 1) != 0;
        else if (name == "--seconds") s.seconds = number(name, value, 0., 3600.);
        else return false;
        return true;
    };
    return with_options(argc, argv, help, take, [&] { return run(s); });
}

} // namespace sinter::bench
