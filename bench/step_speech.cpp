// SPDX-License-Identifier: BSL-1.0
// The time of one training step, by SGD, of a net whose weights come from memory; as one JSON line;
// float32, the loss softmax cross entropy at every step of the sequences.
#include <zoo/gru_speech.hpp>

#include "step.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "step_speech [--model gru] [--threads N] [--seconds S] [--kernels 0|1]\n"
    "Times training steps for S seconds (default 2, and four steps at least) and prints one JSON line; the net takes\n"
    "4 GB.\n"
    "--threads 0: all cores; default 1. --kernels 1: a table of every kernel's time, rate and share goes to standard\n"
    "error first.";

constexpr int units = 3000, steps = 20, letters = 29, batch = 16;

/// Two batches of pseudo-random rows, and a letter for each.
data::dataset sounds() {
    constexpr std::size_t n = 2 * batch * steps;
    return data::dataset(extents(steps, units), bench::numbers(n * units))
        .labels(extents(steps), bench::classes(n, letters, 8), letters);
}

int run(const bench::step_settings& s) {
    if (s.optimizer != "sgd") throw option_error("unknown optimizer", "--optimizer", s.optimizer, "sgd");
    if (s.model != "gru") throw option_error("unknown model", "--model", s.model, "gru");
    constexpr auto net = zoo::gru_speech<units, steps> >> dense<letters>;
    return bench::time_step<batch>(net, sgd{.learning_rate = 0.01f}, sounds(), s);
}

} // namespace

int main(int argc, char** argv) { return bench::step_main(argc, argv, help, {.model = "gru", .kernel_steps = 5}, run); }
