// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 6 --batch 32 --threads 1 --report tfrecords_of_examples.json
//
// Sharded TFRecords of tf.train.Example, as TensorFlow writes and reads them.
//
// A data set that no memory holds lies in many files, its shards, and each record of a file is an Example: features by
// name. A field of a struct is the feature of its name. Several shards are read in turns, and shuffle(n) mixes what
// comes, so that neither the order of the files nor that of their records is left, though nothing was ever read but
// from front to back. With an index beside it a shard can as well be read by numbers, as the test data are here.
#include "common/results.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/examples_as.hpp>
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <sinter/io/make_folders.hpp>
#include <sinter/io/tfrecord.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr auto net = image<28, 28, 1> >> conv2d<8, 5> >> relu >> max_pool<4> >> flatten >> dense<10>;

struct sample {
    data::pixels<28, 28> image;   // one text of 784 bytes
    std::int32_t label;
};

/// NAME-00000-of-00004.tfrecord and so on, and beside each its index.
static void write_digits(const std::string& name, int shards, int each, std::uint64_t seed) {
    const auto fill = [&](tfrecord::writer& to, int shard) {
        const data::dataset digits = data::drawn_digits(each, seed + static_cast<std::uint64_t>(shard));
        std::vector<std::byte> image(28 * 28);
        tfrecord::example e;
        for (std::size_t i = 0; i < static_cast<std::size_t>(each); ++i) {
            for (std::size_t p = 0; p < image.size(); ++p)
                image[p] = static_cast<std::byte>(digits.x()[i * image.size() + p] * 255 + 0.5f);
            to.add(e.bytes("image", image).integers("label", {digits.labels()[i]}).bytes());
        }
    };
    tfrecord::write_shards(name, shards, fill, {.index = true});
}

static void train(const example::options& options, const std::string& folder) {
    io::make_folders(folder);
    write_digits(folder + "/train", 4, 500, 100 * options.seed);
    write_digits(folder + "/test", 1, 400, 100 * options.seed + 50);

    auto training = data::list_files(folder + "/train-*.tfrecord", {.seed = options.seed})
                  | data::interleave([](const std::string& shard) { return data::tfrecords(shard); }, {.cycle = 4})
                  | data::examples_as<sample>() | data::shuffle(1'000, options.seed)
                  | data::batch(options.batch) | data::prefetch();
    auto test = data::tfrecords_indexed(folder + '/' + tfrecord::shard_name("test", 0, 1)) | data::examples_as<sample>()
              | data::batch(options.batch);

    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 5e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs});
    if (!options.save.empty()) model.save(options.save);
    example::tell_measured("tfrecords_of_examples", options, "drawn digits", model.threads(), history,
                           {{"accuracy", model.evaluate(test).accuracy},
                            {"examples an epoch", static_cast<double>(history.back().examples)}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 20, .batch = 32, .largest_batch = 256};
    std::string folder = "tfrecords_of_examples-digits";
    example::command_line line("Writes drawn digits as sharded TFRecords, and learns from those.");
    options.declare(line);
    line.add("records", folder, "DIR", "where the TFRecords are written");
    return example::run(argc, argv, line, [&] { train(options, folder); });
}
