// SPDX-License-Identifier: BSL-1.0
// The time of one training step on images, as one JSON line; batch 64, float32, the loss softmax
// cross entropy.
#include "step.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "step [--model mlp|mlp_fashion|lenet|cnn|quickstart] [--optimizer sgd|adam] [--threads N] [--seconds S]\n"
    "     [--kernels 0|1]\n"
    "Times training steps for S seconds (default 2) and prints one JSON line. --threads 0: all cores; default 1.\n"
    "mlp_fashion is mlp on Fashion-MNIST's images, which lie below $SINTER_DATA.\n"
    "--kernels 1: a table of every kernel's time, rate and share goes to standard error first.";

int run(const bench::step_settings& s) {
    if (s.model == "mlp") return bench::time_step<64>(bench::mlp, bench::images(), s);
    if (s.model == "mlp_fashion") return bench::time_step<64>(bench::mlp, bench::clothes(), s);
    if (s.model == "lenet") return bench::time_step<64>(bench::lenet, bench::images(), s);
    if (s.model == "cnn") return bench::time_step<64>(bench::cnn, bench::images(), s);
    if (s.model == "quickstart") return bench::time_step<64>(bench::quickstart, bench::images(), s);
    throw option_error("unknown model", "--model", s.model, "mlp, mlp_fashion, lenet, cnn or quickstart");
}

} // namespace

int main(int argc, char** argv) { return bench::step_main(argc, argv, help, {.model = "cnn"}, run); }
