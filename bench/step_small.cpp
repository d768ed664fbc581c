// SPDX-License-Identifier: BSL-1.0
// The time of one training step of nets in which single launches, or rows of a table, count; as one
// JSON line; float32.
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>

#include "step.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "step_small [--model policy|columns] [--optimizer sgd|adam] [--threads N] [--seconds S] [--kernels 0|1]\n"
    "Times training steps for S seconds (default 2) and prints one JSON line. --threads 0: all cores; default 1.\n"
    "--kernels 1: a table of every kernel's time, rate and share goes to standard error first.";

int run(const bench::step_settings& s) {
    if (s.model == "policy") return bench::time_step<32>(bench::policy, bench::observations(), s);
    if (s.model == "columns")
        return bench::time_step<256, sigmoid_cross_entropy_loss>(bench::columns, bench::clicks(), s);
    throw option_error("unknown model", "--model", s.model, "policy or columns");
}

} // namespace

int main(int argc, char** argv) { return bench::step_main(argc, argv, help, {.model = "policy"}, run); }
