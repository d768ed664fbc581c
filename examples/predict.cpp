// SPDX-License-Identifier: BSL-1.0
// smoke: --weights quickstart.safetensors --digits {examples}/images/seven.pgm --onnx quickstart.onnx
// after: quickstart
//
// Lesson 2: using what was learned.
//
//   quickstart --save fashion.safetensors
//   predict --weights fashion.safetensors shoe.png shirt.pgm     says what is on these images
//   predict --weights fashion.safetensors                        measures the net on the data set's test images
//   predict --weights fashion.safetensors --onnx fashion.onnx    writes it for onnxruntime and others
//
// Weights live in the file under their layers' names. Any program whose net has the same names and
// extents can load them; where something differs, load() says what, and nothing is loaded.
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/io/pgm.hpp>
#include <sinter/sinter.hpp>
#include <algorithm>
#ifdef SINTER_WITH_PNG   // defined by our CMake files where libpng is found
#include <sinter/io/read_image.hpp>
#endif
using namespace sinter;

static io::grey_image read_image(const std::string& file) {
#ifdef SINTER_WITH_PNG
    return io::read_image(file);
#else
    return io::read_pgm(file);
#endif
}

// Quickstart's net, but its last layer gives probabilities. Neither softmax nor dropout owns
// weights, and dropout does nothing outside training, so that the names stay what they were.
constexpr auto net = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dense<10> >> softmax;

// A trainer, of which only the prediction program is run: loss and optimizer play no part but that
// the optimizer's memory, if the file has it, must be adam's.
using classifier = trainer<std::remove_const_t<decltype(net)>, mse_loss, adam, 256>;

static void classify(classifier& model, const std::string& file, span<const std::string_view> names) {
    const io::grey_image picture = read_image(file);
    if (picture.width != 28 || picture.height != 28)
        throw data_error("image of the wrong size", file,
                         std::to_string(picture.width) + " x " + std::to_string(picture.height) + " pixels", "28 x 28");
    const span<const float> probability = model.predict({.x = picture.pixels.data(), .size = 1});
    std::vector<std::size_t> order(names.size());
    for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return probability[a] > probability[b]; });
    std::printf("%s: %s\n", file.c_str(), std::string(names[order[0]]).c_str());
    for (std::size_t c : order)
        std::printf("  %5.1f %%  %s\n", 100. * static_cast<double>(probability[c]), std::string(names[c]).c_str());
}

static void measure(classifier& model, const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto test = data::source(images.test) | data::batch(options.batch);
    metrics::accuracy accuracy;
    const double began = base::monotonic_seconds();
    for (int pass = 0; pass < options.epochs; ++pass)
        for (const data::batch_view& batch : test)
            accuracy.add(model.predict(batch).data(), batch.labels, batch.size, 10);
    const double seconds = base::monotonic_seconds() - began;
    example::tell(options, {"predict", images.name, model.threads(), accuracy.value(), accuracy.count(), seconds});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 1, .largest_batch = 256};
    std::string weights = "quickstart.safetensors";
    std::vector<std::string> files;
    bool as_digits = false;
    example::command_line line(
        "Says what is on grey images of 28 x 28 pixels, white on black. Without images it measures\n"
        "the net on test images, as often as --epochs says. --save writes weights alone.");
    line.add("weights", weights, "FILE", "what quickstart --save wrote")
        .flag("digits", as_digits, "the net was trained on digits, not on clothes")
        .rest(files, "IMAGE");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] {
        classifier model({}, {.threads = options.threads});
        load(model, weights);
        if (!options.save.empty()) save(model, options.save, saved::weights);
        if (!options.onnx.empty())
            example::write_onnx(options, model, example::find_dataset(options.data, options.seed).test);
        for (const std::string& file : files) classify(model, file, as_digits ? example::digits : example::garments);
        if (files.empty() && options.onnx.empty()) measure(model, options);
    });
}
