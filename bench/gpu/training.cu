// SPDX-License-Identifier: BSL-1.0
// A whole training on this machine's GPU: the quickstart net, ten epochs of Fashion-MNIST through a pipeline, evaluated
// after each.
//   training DIR    prints a JSON line; DIR holds the data set's four IDX files, gzipped or not
// Exit status: 0 all is well, 1 it learned too little, 2 there is no GPU or no data.
#include "cuda/device_part.hpp"
#include "examples/common/dataset.hpp"
#include <sinter/estimator/estimator.hpp>

using namespace sinter;

namespace {

constexpr auto net = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

int train(const std::string& folder) {
    const example::dataset images = example::find_dataset(folder, 1);
    if (images.name != "Fashion-MNIST")
        return std::fprintf(stderr, "%s: no Fashion-MNIST\n", folder.c_str()), 2;
    auto training = data::source(images.train) | data::shuffle(10'000) | data::batch(128) | data::prefetch();
    auto validation = data::source(images.validation) | data::batch(256);
    auto test = data::source(images.test) | data::batch(256);
    estimator model{net, softmax_cross_entropy, adam{}, max_batch<256>, single<cuda>{}};
    const std::vector<epoch_result> history =
        model.train(training, {.epochs = 10, .validation = &validation, .progress = nullptr});
    double seconds = 0;
    for (const epoch_result& e : history) seconds += e.seconds;
    const double accuracy = model.evaluate(test).accuracy;
    const bool ok = accuracy > 0.91;
    std::printf("{\"check\": \"training\", \"ok\": %s, \"accuracy\": %.4f, \"loss\": %.4f, \"seconds\": %.2f}\n",
                ok ? "true" : "false", accuracy, history.back().loss, seconds);
    return !ok;
}

} // namespace

int main(int argc, char** argv) {
    if (const std::string why = test::missing_gpu(); !why.empty())
        return std::fprintf(stderr, "no GPU: %s\n", why.c_str()), 2;
    if (argc < 2) return std::fprintf(stderr, "training DIR: the folder of Fashion-MNIST's files\n"), 2;
    try {
        return train(argv[1]);
    } catch (const error& e) {
        std::printf("{\"check\": \"training\", \"ok\": false, \"error\": \"%s\"}\n", e.what());
        return 1;
    }
}
