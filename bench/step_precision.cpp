// SPDX-License-Identifier: BSL-1.0
// The time of one training step with products of float32 or of bfloat16, as one JSON line; text,
// SGD, softmax cross entropy.
#include "step.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "step_precision [--model gpt512|gpt512_bfloat16] [--threads N] [--seconds S] [--kernels 0|1]\n"
    "Times training steps for S seconds (default 2) and prints one JSON line. --threads 0: all cores; default 1.\n"
    "--kernels 1: a table of every kernel's time, rate and share goes to standard error first.\n"
    "bfloat16 pays where the processor multiplies pairs of it (AVX512_BF16, compiled for that processor).";

template <precision P>
int timed(const bench::step_settings& s) {
    constexpr program_options o{.products = P};
    const sgd optimizer{.learning_rate = 0.01f};
    return bench::time_step<8, softmax_cross_entropy_loss, o>(bench::wide_gpt, optimizer, bench::text(), s);
}
int run(const bench::step_settings& s) {
    if (s.model == "gpt512") return timed<precision::float32>(s);
    if (s.model == "gpt512_bfloat16") return timed<precision::bfloat16>(s);
    throw option_error("unknown model", "--model", s.model, "gpt512 or gpt512_bfloat16");
}

} // namespace

int main(int argc, char** argv) {
    return bench::step_main(argc, argv, help, {.model = "gpt512_bfloat16", .kernel_steps = 5}, run);
}
