// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 2 --threads 1 --save quickstart.safetensors --report quickstart.json
//
// Lesson 1: a convolutional net, trained on images.
//
// The net below is one constant expression. While this file is compiled, Sinter traces it, derives
// its gradient, fuses both with the optimizer into a few kernels and lays out their memory. What is
// left at run time is a list of calls.
//
//   quickstart --data DIR --save fashion.safetensors
//
// DIR holds Fashion-MNIST's four IDX files, gzipped or not. Without them the program draws digits
// and learns those. Beside the weights it writes two pictures: how the loss fell, and which classes
// were taken for which.
#include "common/results.hpp"
#include <sinter/train/chart/svg.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/chart.hpp>
using namespace sinter;

constexpr auto net = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

static void train(const example::options& options) {
    const std::string curve_file = example::beside(options.save, "quickstart", "-curve.svg");
    const std::string confusion_file = example::beside(options.save, "quickstart", "-confusion.svg");
    // While nothing is lost.
    for (const std::string& file : {curve_file, confusion_file}) example::check_writable(file);

    // Data. A twelfth of the training images is kept for watching; the test images are looked at
    // once, at the end.
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch)
                  | data::prefetch();
    auto validation = data::source(images.validation) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    // The model: the net, what it shall minimise, how it learns, and the largest batch it has room
    // for.
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    std::printf("%s: %lld training images. The model needs %.1f MB.\n", images.name.c_str(),
                static_cast<long long>(images.train.size()), static_cast<double>(model.bytes()) / 1e6);

    const std::vector<epoch_result> history =
        model.train(training, {.epochs = options.epochs, .validation = &validation});

    // What came of it.
    metrics::confusion_matrix confusion(10);
    for (const data::batch_view& b : test) confusion.add(model.predict(b).data(), b.labels, b.size);
    if (!options.save.empty()) {
        model.save(options.save);
        std::printf("Wrote %s.\n", options.save.c_str());
    }
    curve loss{"training", {}}, validation_loss{"validation", {}}, accuracy{"validation", {}};
    for (const epoch_result& e : history) {
        loss.y.push_back(e.loss);
        validation_loss.y.push_back(e.validation_loss);
        accuracy.y.push_back(e.accuracy);
    }
    svg::write(curve_file, to_svg({{"Loss", "epoch", "cross entropy", {loss, validation_loss}},
                                   {"Accuracy", "epoch", "share recognised", {accuracy}}}));
    svg::write(confusion_file, to_svg(confusion, images.class_names, images.name));
    std::printf("Wrote %s and %s.\n", curve_file.c_str(), confusion_file.c_str());
    example::tell_results("quickstart", options, images.name, model.threads(), history, confusion.accuracy());
}

int main(int argc, char** argv) {
    example::options options{.epochs = 5, .largest_batch = 256};
    example::command_line line("Trains a convolutional net to recognise clothes (Fashion-MNIST) or drawn digits.");
    options.declare(line);
    return example::run(argc, argv, line, [&] { train(options); });
}
