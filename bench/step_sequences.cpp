// SPDX-License-Identifier: BSL-1.0
// labels: release
// The time of one training step on sequences, as one JSON line; float32, the loss softmax cross
// entropy.
#include "step.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "step_sequences [--model lstm|gpt|gpt_exact] [--optimizer sgd|adam] [--threads N] [--seconds S] [--kernels 0|1]\n"
    "Times training steps for S seconds (default 2) and prints one JSON line. --threads 0: all cores; default 1.\n"
    "--kernels 1: a table of every kernel's time, rate and share goes to standard error first.";

int run(const bench::step_settings& s) {
    if (s.model == "lstm") return bench::time_step<32>(bench::lstm, bench::rows(), s);
    if (s.model == "gpt") return bench::time_step<8>(bench::gpt, bench::text(), s);
    if (s.model == "gpt_exact") return bench::time_step<8>(bench::gpt_exact, bench::text(), s);
    throw option_error("unknown model", "--model", s.model, "lstm, gpt or gpt_exact");
}

} // namespace

int main(int argc, char** argv) { return bench::step_main(argc, argv, help, {.model = "gpt"}, run); }
