// SPDX-License-Identifier: BSL-1.0
// needs: png jpeg
// smoke: --epochs 10 --batch 8 --threads 1 --report image_folder.json
//
// A folder of pictures, decoded and augmented while the net learns.
//
//   image_folder --pictures DIR     DIR/train and DIR/test have a folder of JPEG or PNG files for each class
//
// Nothing is prepared and nothing is kept: each picture is read, decoded, cut, mirrored, coloured and resized when its
// turn comes, by as many threads as are of use. What is random in that depends on the seed, the epoch and the picture
// alone, so that batches are the same for any number of threads. Without --pictures the program draws shapes, and
// writes them to image_folder-shapes.
#include "common/drawn_shapes.hpp"
#include "common/results.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/image/colour.hpp>
#include <sinter/data/image/crop.hpp>
#include <sinter/data/image/flip.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/pictures.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr int side = 32, most_classes = 16;

constexpr auto net = image<side, side, 3>
    >> conv2d<8, 3> >> relu >> max_pool<2>
    >> conv2d<16, 3> >> relu >> max_pool<2>
    >> flatten >> dense<32> >> relu >> dense<most_classes>;

struct sample {
    data::pixels<side, side, 3> image;
    std::int32_t label;
};

static sample augmented(const data::picture& p, random_stream& random) {
    data::bitmap part;
    data::image::crop(p.image, data::image::random_resized_window(p.image, random, 0.7), part);
    if (random.below(2)) data::image::flip_horizontal(part);
    data::image::adjust_brightness(part, random.uniform(0.7f, 1.3f));
    data::image::adjust_saturation(part, random.uniform(0.5f, 1.5f));
    data::image::adjust_hue(part, random.uniform(-0.5f, 0.5f));
    return {data::resized<side, side, 3>(part), p.label};
}

static void train(const example::options& options, std::string folder) {
    const std::string name = folder.empty() ? "drawn shapes" : folder;
    if (folder.empty()) {
        folder = "image_folder-shapes";
        example::write_drawn_shapes(folder + "/train", 60, options.seed);
        example::write_drawn_shapes(folder + "/test", 20, options.seed);
    }
    const auto pictures = data::pictures(folder + "/train"), held_out = data::pictures(folder + "/test");
    if (pictures.classes() != held_out.classes() || pictures.classes().size() > most_classes)
        throw data_error("classes cannot be used", folder, std::to_string(pictures.classes().size()) + " in train",
                         "the same in test, and at most " + std::to_string(most_classes));

    auto training = pictures | data::shuffle({.seed = options.seed}) | data::map(augmented, options.seed)
                  | data::batch(options.batch) | data::parallel();
    auto test = held_out
              | data::map([](const data::picture& p) { return sample{data::resized<side, side, 3>(p.image), p.label}; })
              | data::batch(options.batch) | data::parallel();

    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 3e-3f}, max_batch<64>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs});
    if (!options.save.empty()) model.save(options.save);
    std::printf("Training has waited %.2f s for %lld pictures.\n", training.statistics().waited,
                static_cast<long long>(training.statistics().rows));
    example::tell_measured("image_folder", options, name, model.threads(), history,
                           {{"accuracy", model.evaluate(test).accuracy}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 20, .batch = 8, .largest_batch = 64};
    std::string folder;
    example::command_line line("Learns from a folder of pictures, each augmented anew in each epoch.");
    options.declare(line);
    line.add("pictures", folder, "DIR", "has train and test, each with a folder of pictures for each class");
    return example::run(argc, argv, line, [&] { train(options, folder); });
}
