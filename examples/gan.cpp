// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 2 --threads 1 --save gan.safetensors --report gan.json --onnx gan.onnx
//
// Lesson 16: two nets that learn from each other.
//
//   gan --save gan.safetensors      and look at gan-drawn.pgm
//
// A generative adversarial net (Goodfellow et al. 2014): the generator makes images of random
// numbers, and the discriminator tells them from real ones. By turns each takes a step while the
// other stands still: the discriminator to tell better, the generator to be told apart less. A
// generator may find a few images that pass and draw nothing else: it has "collapsed". So a third
// net, which knows the digits, looks at what comes out: whether it can tell what each image shows,
// and whether all ten digits are drawn.
#include "common/onnx.hpp"
#include "common/picture.hpp"
#include "common/replicas.hpp"
#include "common/results.hpp"
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/random_normal.hpp>
#include <sinter/ops/softplus.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>
#include <algorithm>
#include <array>
#include <cmath>
using namespace sinter;

constexpr int side = 28, pixels = side * side, noise = 48, largest_batch = 128;

constexpr auto leaky = [](tensor x) { return maximum(x, x * 0.2f); };
constexpr auto generator = named<"generator">(dense<128> >> relu >> dense<256> >> relu >> dense<pixels> >> sigmoid);
// Shared: applied twice in one net, it has the same parameters.
constexpr auto discriminator = shared<"discriminator">(dense<256> >> leaky >> dense<128> >> leaky >> dense<1>);

// One net for both. Its outputs: how sure the discriminator is that an image is real, for a real
// one and for a drawn one; how steep that is as a function of the real image's pixels; and the
// drawn one.
constexpr auto net = image<side, side, 1> >> flatten >> [](tensor x) {
    const tensor z = ops::random_normal(ops::slice(x, -1, 0, noise));   // other numbers in each step
    const tensor drawn = generator(z);
    const tensor of_real = discriminator(x), slope = ops::gradient(of_real, x);
    return outputs(of_real, discriminator(drawn), sum(slope * slope, {-1}), drawn);
};

/// -log of the probability that both are told rightly, and a penalty on the slope, without which
/// the discriminator is sure of too much and the generator learns nothing (Mescheder et al. 2018).
/// The penalty is a gradient, and is differentiated again.
struct telling_loss {
    static constexpr target_list targets{};   // the data's labels are of no interest
    constexpr tensor operator()(bundle y, bundle) const {
        return ops::softplus(-y[0]) + ops::softplus(y[1]) + 0.5f * ops::reshape(y[2], extents(1));
    }
};
/// -log of the probability that a drawn image is taken for real.
struct drawing_loss {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return ops::softplus(-y[1]); }
};

// Each loss trains the parameters of its own net, by an optimizer of its own; the other's stand
// still meanwhile.
constexpr adam rate{.learning_rate = 3e-4f, .beta1 = 0.5f};
constexpr alternating turns{phase<"discriminator/*">(telling_loss{}, rate), phase<"generator/*">(drawing_loss{}, rate)};

/// What a net that knows the digits sees in images: how many each shows, and whether it is sure.
/// The inception score (Salimans et al. 2016) is e to the mean divergence of the classes that it
/// sees in one image from those that it sees in all: 1 where it knows nothing or all images are
/// alike, 10 where each clearly is a digit and all digits are as frequent.
struct judgement {
    double score = 0;
    int digits = 0;          ///< that at least 3 % of the images show
    double confidence = 0;   ///< the mean probability of what an image most likely shows
};
static judgement judge(auto& expert, const std::vector<float>& images) {
    judgement j;
    std::vector<std::array<double, 10>> seen;
    std::array<double, 10> all{}, shown{};
    for (std::size_t first = 0; first < images.size() / pixels; first += largest_batch) {
        const int n = static_cast<int>(std::min<std::size_t>(largest_batch, images.size() / pixels - first));
        const span<const float> logits = expert.predict({.x = images.data() + first * pixels, .size = n});
        for (std::size_t i = 0; i < logits.size(); i += 10) {
            std::array<double, 10> p;
            double sum = 0;
            for (std::size_t c = 0; c < 10; ++c) sum += p[c] = std::exp(static_cast<double>(logits[i + c]));
            for (double& v : p) v /= sum;
            for (std::size_t c = 0; c < 10; ++c) all[c] += p[c];
            const auto most = std::max_element(p.begin(), p.end());
            shown[static_cast<std::size_t>(most - p.begin())] += 1;
            j.confidence += *most;
            seen.push_back(p);
        }
    }
    const auto n = static_cast<double>(seen.size());
    j.confidence /= n;
    for (const auto& p : seen)
        for (std::size_t c = 0; c < 10; ++c) j.score += p[c] > 0 ? p[c] * std::log(p[c] * n / all[c]) / n : 0;
    j.score = std::exp(j.score);
    for (const double s : shown) j.digits += s >= 0.03 * n;
    return j;
}

/// --onnx: the generator alone, of the weights just saved. It is given its random numbers: those
/// that the net draws itself no other program would draw.
static void write_generator(const example::options& options) {
    if (options.onnx.empty()) return;
    constexpr auto alone = features<noise> >> generator;
    estimator artist{alone, mse, sgd{.learning_rate = 0.1f}, max_batch<16>};
    artist.load_weights(options.save, {.ignore = {"discriminator/*", "optimizer/*", "step"}});
    std::vector<float> z(16 * noise);
    random_stream numbers(options.seed);
    for (float& v : z) v = 4 * numbers.uniform() - 2;
    example::write_onnx(options, artist, data::dataset(extents(noise), std::move(z)));
}

template <class Strategy>
static void train(const example::options& options, const Strategy& strategy) {
    if (!options.onnx.empty() && options.save.empty())
        throw option_error("the generator is written as it was saved", "--onnx", options.onnx, "--save as well");
    const std::string picture = example::beside(options.save, "gan", "-drawn.pgm");
    example::check_writable(picture);
    const example::dataset digits = example::drawn_dataset(options.seed);
    auto training = data::source(digits.train) | data::shuffle(20'000, options.seed) | data::batch(options.batch);
    auto test = data::source(digits.test) | data::batch(options.batch);

    const trainer_options o{.threads = options.threads, .seed = options.seed};
    estimator model{net, turns, max_batch<largest_batch>, strategy, o};
    const auto tell_both = [](const epoch_result& r) {
        std::printf("epoch %d: the discriminator's loss %.4f, the generator's %.4f\n", r.epoch, r.phase_losses[0],
                    r.phase_losses[1]);
    };
    const auto history = model.train(training, {.epochs = options.epochs}, tell_both);
    if (!options.save.empty()) model.save(options.save);
    write_generator(options);

    // The net makes its random numbers itself, other ones in each step, so that any images will do:
    // they say how many to draw.
    std::vector<float> drawn;
    for (const data::batch_view& b : test) {
        const span<const float> y = model.predict(b, 3);
        drawn.insert(drawn.end(), y.begin(), y.end());
        model.inner().set_steps(model.inner().steps() + 1);
    }
    example::write_picture(picture, {drawn.begin(), drawn.begin() + 100 * pixels}, side, 10);
    std::printf("Wrote %s.\n", picture.c_str());

    constexpr auto knows_digits = image<side, side, 1> >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;
    estimator expert{knows_digits, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<largest_batch>, o};
    expert.train(training, {.epochs = 5, .progress = nullptr});
    const span<const float> real = digits.test.x();
    const judgement of_drawn = judge(expert, drawn), of_real = judge(expert, {real.begin(), real.end()});
    example::tell_measured("gan", options, digits.name, model.threads(), history,
                           {{"inception score", of_drawn.score}, {"of real images", of_real.score},
                            {"digits drawn", of_drawn.digits}, {"confidence", of_drawn.confidence},
                            {"expert's accuracy", expert.evaluate(test).accuracy}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 15, .largest_batch = largest_batch};
    example::command_line line("Learns to draw digits with a generative adversarial net.");
    std::string strategy = "single";
    options.declare(line);
    example::declare_strategy(line, strategy);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] {
        example::under_strategy(strategy, [&](const auto& replicas) { train(options, replicas); });
    });
}
