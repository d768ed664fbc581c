// SPDX-License-Identifier: BSL-1.0
// What an input pipeline costs, as JSON lines: the time in which a batch is filled out of a
// shuffled set in memory, and what that adds to steps of training on one thread, filled in between
// or ahead, by another thread.
#include "nets.hpp"
#include "options.hpp"
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

using namespace sinter;
using namespace sinter::base;

namespace {

constexpr const char* help =
    "pipelines [--seconds S] [--threads 1]\n"
    "For S seconds each (default 1): batches of four sets filled, and trained on, in random order; JSON lines.";

/// Microseconds a batch in each pass over a pipeline, for so many seconds; the median. The first
/// pass, which finds room, does not count.
template <class Use>
double of_a_batch(data::pipeline pipeline, double seconds, Use use) {
    std::vector<double> us;
    for (double began = 0; us.empty() || monotonic_seconds() - began < seconds;) {
        const double t0 = monotonic_seconds();
        long batches = 0;
        for (const data::batch_view& b : pipeline) {
            use(b);
            ++batches;
        }
        if (began > 0) us.push_back(1e6 * (monotonic_seconds() - t0) / static_cast<double>(batches));
        else began = monotonic_seconds();
    }
    std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2), us.end());
    return us[us.size() / 2];
}

template <int Batch, class Loss, class Optimizer, class Net>
void run(const char* name, Net, Optimizer optimizer, const data::dataset& set, double seconds) {
    const auto shuffled = [&] { return set | data::shuffle(set.size()) | data::batch(Batch); };
    const double fill = of_a_batch(shuffled(), seconds, [](const data::batch_view&) {});
    trainer<Net, Loss, Optimizer, Batch> model(optimizer, {.threads = 1});
    double within = 0;
    long steps = 0;
    const double both = of_a_batch(shuffled(), seconds, [&](const data::batch_view& b) {
        const double t0 = monotonic_seconds();
        model.step(b);
        within += monotonic_seconds() - t0;
        ++steps;
    });
    const double ahead =
        of_a_batch(shuffled() | data::prefetch(), seconds, [&](const data::batch_view& b) { model.step(b); });
    std::printf(
        "{\"set\": \"%s\", \"examples\": %lld, \"batch\": %d, \"system\": \"sinter\", \"fill_us\": %.3f, "
        "\"step_us\": %.3f, \"both_us\": %.3f, \"ahead_us\": %.3f}\n",
        name, static_cast<long long>(set.size()), Batch, fill, 1e6 * within / static_cast<double>(steps), both, ahead);
}

} // namespace

int main(int argc, char** argv) {
    double seconds = 1;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--seconds") seconds = bench::number(name, value, 0., 3600.);
        else if (name == "--threads") bench::number(name, value, 1, 1);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] {
        run<32, softmax_cross_entropy_loss>("policy", bench::policy, adam{}, bench::observations(1 << 17), seconds);
        run<256, sigmoid_cross_entropy_loss>("columns", bench::columns, adam{}, bench::clicks(1 << 16), seconds);
        run<64, softmax_cross_entropy_loss>("mlp", bench::mlp, sgd{.learning_rate = 0.01f}, bench::images(60'000),
                                            seconds);
        run<64, softmax_cross_entropy_loss>("mlp_bytes", bench::mlp, sgd{.learning_rate = 0.01f},
                                            bench::images_of_bytes(60'000), seconds);
        return 0;
    });
}
