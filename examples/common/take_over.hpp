// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "images_for_python.hpp"
#include "onnx.hpp"
#include "results.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>

namespace example {

/// A whole program: takes over the weights that a script of `program`'s name trained in another
/// framework, and trains on.
template <class Net>
int take_over(int argc, char** argv, Net net, const char* program, const char* framework, std::string weights,
              const sinter::name_map& map) {
    using namespace sinter;
    options given{.epochs = 1, .largest_batch = 256};
    std::string give;
    command_line line("Takes over the weights of a net that " + std::string(framework) + " trained, and trains on.");
    line.add("weights", weights, "FILE", "what " + std::string(program) + ".py wrote")
        .output("give", give, "write the training images here (.npz), and do nothing else");
    given.declare(line);
    declare_onnx(line, given);
    return run(argc, argv, line, [&] {
        const dataset images = find_dataset(given.data, given.seed);
        if (!give.empty()) return write_images(images, give);
        auto training = data::source(images.train) | data::shuffle(10'000, given.seed) | data::batch(given.batch);
        auto test = data::source(images.test) | data::batch(given.batch);

        estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<256>,
                        {.threads = given.threads, .seed = given.seed}};
        model.load_weights(weights, map);
        std::printf("As it came from %s: test accuracy %.4f\n", framework, model.evaluate(test).accuracy);

        const auto history = model.train(training, {.epochs = given.epochs});
        if (!given.save.empty()) model.save(given.save);
        write_onnx(given, model, images.test);
        tell_results(program, given, images.name, model.threads(), history, model.evaluate(test).accuracy);
    });
}

} // namespace example
