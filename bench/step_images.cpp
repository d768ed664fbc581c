// SPDX-License-Identifier: BSL-1.0
// The time of one training step on photographs, by SGD, as one JSON line; float32, the loss softmax
// cross entropy. -DSINTER_BENCH_NET='"resnet18"' compiles that net alone: all seven take minutes.
#include <string_view>
#include <zoo/alexnet.hpp>
#include <zoo/googlenet.hpp>
#include <zoo/mobilenet.hpp>
#include <zoo/overfeat.hpp>
#include <zoo/resnet.hpp>
#include <zoo/vgg.hpp>

#include "step.hpp"

#ifndef SINTER_BENCH_NET
#define SINTER_BENCH_NET ""
#endif

using namespace sinter;

namespace {

constexpr const char* help =
    "step_images [--model alexnet|googlenet|mobilenet|overfeat|resnet18|resnet50|vgg_a] [--threads N] [--seconds S]\n"
    "            [--kernels 0|1]\n"
    "Times SGD's training steps for S seconds (default 2, and four steps at least) and prints one JSON line.\n"
    "--threads 0: all cores; default 1. --kernels 1: a table of every kernel's time, rate and share goes to standard\n"
    "error first.";

constexpr bool has(std::string_view net) {
    constexpr std::string_view only = SINTER_BENCH_NET;
    return only.empty() || only == net;
}

/// Two batches of pseudo-random pictures, Extent x Extent x 3, of a thousand classes.
template <int Batch, class Loss = softmax_cross_entropy_loss, int Extent = 224, class Net>
int time_net(Net net, const bench::step_settings& s) {
    constexpr std::size_t n = 2 * Batch;
    const data::dataset examples =
        data::dataset(extents(Extent, Extent, 3), bench::numbers(n * Extent * Extent * 3))
            .labels(bench::classes(n, 1000, 8), 1000);
    return bench::time_step<Batch, Loss>(net, sgd{.learning_rate = 0.01f}, examples, s);
}

/// A template, so that what is not asked for is not compiled.
template <class Settings>
int run(const Settings& s) {
    if (s.optimizer != "sgd") throw option_error("unknown optimizer", "--optimizer", s.optimizer, "sgd");
    if constexpr (has("alexnet"))
        if (s.model == "alexnet") return time_net<16>(zoo::alexnet<>, s);
    if constexpr (has("googlenet"))
        if (s.model == "googlenet") return time_net<16, zoo::googlenet_loss_layer>(zoo::googlenet<>, s);
    if constexpr (has("mobilenet"))
        if (s.model == "mobilenet") return time_net<16>(zoo::mobilenet<>, s);
    if constexpr (has("overfeat"))
        if (s.model == "overfeat") return time_net<16, softmax_cross_entropy_loss, 231>(zoo::overfeat_fast<>, s);
    if constexpr (has("resnet18"))
        if (s.model == "resnet18") return time_net<8>(zoo::resnet18<>, s);
    if constexpr (has("resnet50"))
        if (s.model == "resnet50") return time_net<8>(zoo::resnet50<>, s);
    if constexpr (has("vgg_a"))
        if (s.model == "vgg_a") return time_net<8>(zoo::vgg_a<>, s);
    throw option_error("unknown model", "--model", s.model,
                       "alexnet, googlenet, mobilenet, overfeat, resnet18, resnet50 or vgg_a");
}

} // namespace

int main(int argc, char** argv) {
    return bench::step_main(argc, argv, help, {.model = "resnet18", .kernel_steps = 5}, run<bench::step_settings>);
}
