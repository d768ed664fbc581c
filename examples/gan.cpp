// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 2 --threads 1 --save gan.safetensors --report gan.json
//
// Lesson 15: two nets that learn from each other.
//
//   gan --save gan.safetensors      and look at gan-drawn.pgm
//
// A generative adversarial net (Goodfellow et al. 2014): the generator makes images of random numbers, and the
// discriminator tells them from real ones. By turns each takes a step while the other stands still: the discriminator to tell
// better, the generator to be told apart less. A generator may find a few images that pass and draw nothing else: it has
// "collapsed". So a third net, which knows the digits, looks at what comes out: whether it can tell what each image shows, and
// whether all ten digits are drawn.
#include "common/picture.hpp"
#include "common/results.hpp"
#include <sinter/ops/softplus.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <algorithm>
#include <cmath>
using namespace sinter;

constexpr int side = 28, pixels = side * side, noise = 48, largest_batch = 128;

constexpr auto leaky = [](tensor x) { return maximum(x, x * 0.2f); };
// Shared: applied twice in one net, they have the same parameters.
constexpr auto generator = shared<"generator">(dense<128> >> relu >> dense<256> >> relu >> dense<pixels> >> sigmoid);
constexpr auto discriminator =
    shared<"discriminator">(dense<256> >> leaky >> dropout<0.3f> >> dense<128> >> leaky >> dropout<0.3f> >> dense<1>);

// What the discriminator is shown, real or drawn, is disturbed so much that it cannot go by the grain of the paper, which no
// generator can imitate pixel by pixel ("instance noise", Sonderby et al. 2017).
constexpr auto disturbed = [](tensor x) { return x + (ops::random_uniform(x) - 0.5f); };

// The discriminator's step: how sure it is that an image is real, for real ones and for drawn ones.
constexpr auto telling = inputs(image<side, side, 1>, features<noise>) >> [](tensor x, tensor z) {
    return outputs(discriminator(disturbed(flatten(x))), discriminator(disturbed(generator(z))));
};
/// -log of the probability that both are told rightly.
struct telling_loss {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle sure, bundle) const { return ops::softplus(-sure[0]) + ops::softplus(sure[1]); }
};
// The generator's: how sure the discriminator is of what it drew.
constexpr auto drawing = features<noise> >> generator >> disturbed >> discriminator;
/// -log of the probability that a drawn image is taken for real.
struct drawing_loss {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle sure, bundle) const { return ops::softplus(-sure[0]); }
};

// Each has an optimizer of its own, for which the other net's parameters are frozen: no gradient is computed for them.
constexpr adam rate{.learning_rate = 3e-4f, .beta1 = 0.5f};
constexpr parameter_groups telling_optimizer{rate, frozen<"generator/*">};
constexpr parameter_groups drawing_optimizer{rate, frozen<"discriminator/*">};
template <class Net, class Loss, class Optimizer>
using trainer_of = trainer<std::remove_const_t<Net>, Loss, std::remove_const_t<Optimizer>, largest_batch>;
using telling_trainer = trainer_of<decltype(telling), telling_loss, decltype(telling_optimizer)>;
using drawing_trainer = trainer_of<decltype(drawing), drawing_loss, decltype(drawing_optimizer)>;
using drawer = trainer_of<decltype(features<noise> >> generator), mse_loss, adam>;   // only predicts

/// Gives `to` the parameters of `from` whose paths begin with `prefix`.
static void hand_over(const auto& from, auto& to, std::string_view prefix) {
    for (int i = 0; i < to.parameters(); ++i) {
        const std::string path = to.path(to.parameter(i));
        for (int k = 0; path.starts_with(prefix) && k < from.parameters(); ++k)
            if (from.path(from.parameter(k)) == path) to.set_plain(to.parameter(i), from.plain(from.parameter(k)).data());
    }
}

/// What a net that knows the digits sees in images: how many each shows, and whether it is sure. The inception score (Salimans
/// et al. 2016) is e to the mean divergence of the classes that it sees in one image from those that it sees in all: 1 where it
/// knows nothing or all images are alike, 10 where each clearly is a digit and all digits are as frequent.
struct judgement {
    double score = 0;
    int digits = 0;   ///< that at least 3 % of the images show
};
static judgement judge(auto& expert, const std::vector<float>& images) {
    std::vector<std::array<double, 10>> seen;
    std::array<double, 10> all{}, shown{};
    for (std::size_t first = 0; first < images.size() / pixels; first += largest_batch) {
        const int n = static_cast<int>(std::min<std::size_t>(largest_batch, images.size() / pixels - first));
        const std::span<const float> logits = expert.predict({.x = images.data() + first * pixels, .size = n});
        for (std::size_t i = 0; i < logits.size(); i += 10) {
            std::array<double, 10> p;
            double sum = 0;
            for (std::size_t c = 0; c < 10; ++c) sum += p[c] = std::exp(static_cast<double>(logits[i + c]));
            for (double& v : p) v /= sum;
            for (std::size_t c = 0; c < 10; ++c) all[c] += p[c];
            shown[static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin())] += 1;
            seen.push_back(p);
        }
    }
    const auto n = static_cast<double>(seen.size());
    judgement j;
    for (const auto& p : seen)
        for (std::size_t c = 0; c < 10; ++c) j.score += p[c] > 0 ? p[c] * std::log(p[c] * n / all[c]) / n : 0;
    j.score = std::exp(j.score);
    for (const double s : shown) j.digits += s >= 0.03 * n;
    return j;
}

static std::vector<float> random_numbers(std::size_t n, random_stream& random) {
    std::vector<float> z(n);
    for (float& v : z) v = random.normal();
    return z;
}

static void train(const example::options& options) {
    const std::string picture = example::beside(options.save, "gan", "-drawn.pgm");
    example::check_writable(picture);
    const example::dataset digits = example::drawn_dataset(options.seed);
    auto training = data::source(digits.train) | data::shuffle(20'000, options.seed) | data::batch(options.batch);
    auto test = data::source(digits.test) | data::batch(options.batch);

    const trainer_options o{.threads = options.threads, .seed = options.seed};
    telling_trainer teller(telling_optimizer, o);
    drawing_trainer artist(drawing_optimizer, o);
    random_stream random(stream(options.seed, fnv1a("gan/noise")));
    std::vector<epoch_result> history;
    for (int epoch = 1; epoch <= options.epochs; ++epoch) {
        metrics::mean told, drew;
        const double began = monotonic_seconds();
        for (const data::batch_view& b : training) {
            const auto n = static_cast<std::size_t>(b.size * noise);
            const std::vector<float> first = random_numbers(n, random), second = random_numbers(n, random);
            const data::input_view both[] = {b.inputs[0], {first.data(), nullptr, noise}};
            hand_over(artist, teller, "generator");
            told.add(teller.step({.size = b.size, .inputs = both}), b.size);
            hand_over(teller, artist, "discriminator");
            drew.add(artist.step({.x = second.data(), .size = b.size}), b.size);
        }
        history.push_back({.epoch = epoch, .loss = drew.value(), .seconds = monotonic_seconds() - began,
                           .examples = drew.count()});
        std::printf("epoch %d: the discriminator's loss %.4f, the generator's %.4f\n", epoch, told.value(), drew.value());
    }
    if (!options.save.empty()) save(artist, options.save);

    drawer d;
    hand_over(artist, d, "generator");
    std::vector<float> drawn;
    while (drawn.size() < std::size_t{2'000} * pixels) {
        const std::vector<float> z = random_numbers(std::size_t{100} * noise, random);
        const std::span<const float> y = d.predict({.x = z.data(), .size = 100});
        drawn.insert(drawn.end(), y.begin(), y.end());
    }
    example::write_picture(picture, {drawn.begin(), drawn.begin() + 100 * pixels}, side, 10);
    std::printf("Wrote %s.\n", picture.c_str());

    constexpr auto knows_digits = image<side, side, 1> >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;
    estimator expert{knows_digits, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, at_most<largest_batch>, o};
    expert.train(training, {.epochs = 5, .progress = nullptr});
    const std::span<const float> real = digits.test.x();
    const judgement of_drawn = judge(expert, drawn), of_real = judge(expert, {real.begin(), real.end()});
    example::tell_measured("gan", options, digits.name, teller.threads(), history,
                           {{"inception score", of_drawn.score}, {"of real images", of_real.score},
                            {"digits drawn", of_drawn.digits}, {"expert's accuracy", expert.evaluate(test).accuracy}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 40, .largest_batch = largest_batch};
    example::command_line line("Learns to draw digits with a generative adversarial net.");
    options.declare(line);
    return example::run(argc, argv, line, [&] { train(options); });
}
