// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 2 --threads 1 --save vae.safetensors --report vae.json --onnx vae.onnx
//
// Lesson 11: a variational autoencoder, which draws images of its own.
//
//   vae --data DIR --save vae.safetensors      and look at vae-drawn.pgm
//
// One net, the encoder, describes an image by a few numbers; another, the decoder, draws the image
// again from them. The description is no point but a cloud, a mean and a variance for each number,
// from which one point is drawn at random; and all clouds together are held near the standard
// normal distribution. So the decoder can be given a point of that, and draws something that was
// never seen (Kingma and Welling 2014).
#include "common/onnx.hpp"
#include "common/picture.hpp"
#include "common/results.hpp"
#include <sinter/ops/random_normal.hpp>
#include <sinter/sinter.hpp>
#include <cmath>
using namespace sinter;

constexpr int side = 28, pixels = side * side, numbers = 12;   // numbers that describe an image

constexpr auto encoder = dense<256> >> relu >> [](tensor h) { return outputs(dense<numbers>(h), dense<numbers>(h)); };
// Named, for the net at the end that is this decoder alone. Sigmoid of what it gives is an image.
constexpr auto decoder = named<"decoder">(dense<256> >> relu >> dense<pixels>);

// Four outputs, because the loss needs all of them: the image itself, the drawn one, and the
// cloud's means and logarithms of variances. In prediction the cloud's middle stands for it.
constexpr auto net = image<side, side, 1> >> flatten >> [](tensor x) {
    const bundle cloud = encoder(x);
    const tensor mean = cloud[0], log_variance = cloud[1];
    tensor point = mean;
    // "Reparameterised": the randomness comes from outside, so that mean and variance have a
    // gradient.
    if (x.ok() && x.g->mode() != program_mode::prediction)
        point = mean + exp(log_variance * 0.5f) * ops::random_normal(mean);
    return outputs(x, decoder(point), mean, log_variance);
};

/// The negative evidence lower bound, in nats an image: how badly the image is drawn, and how far
/// its cloud is from the standard normal distribution (their Kullback-Leibler divergence).
struct evidence_loss {
    static constexpr target_list targets{};   // the data's labels are of no interest
    constexpr tensor operator()(bundle y, bundle) const {
        const tensor image = y[0], drawn = y[1], mean = y[2], log_variance = y[3];
        // Cross entropy of each pixel, from logits, so that nothing overflows.
        const tensor missed = maximum(drawn, 0.f) - drawn * image + log(exp(-maximum(drawn, -drawn)) + 1.f);
        const tensor distance = 0.5f * (mean * mean + exp(log_variance) - log_variance - 1.f);
        return sum(missed, {-1}) + sum(distance, {-1});
    }
};

// The decoder alone. A trainer, of which only the prediction program is run.
using drawer = trainer<std::remove_const_t<decltype(features<numbers> >> decoder >> sigmoid)>, mse_loss, adam, 100>;

static std::vector<float> draw(const auto& trained, int images, std::uint64_t seed) {
    drawer d;
    for (int i = 0; i < d.parameters(); ++i)        // each of its parameters is one of the whole net's
        for (int k = 0; k < trained.parameters(); ++k)
            if (trained.path(trained.parameter(k)) == d.path(d.parameter(i)))
                d.set_plain(d.parameter(i), trained.plain(trained.parameter(k)).data());
    std::vector<float> points(static_cast<std::size_t>(images * numbers));
    random_stream random(base::stream(seed, base::fnv1a("vae/draw")));
    for (float& p : points) p = random.normal();
    const span<const float> drawn = d.predict({.x = points.data(), .size = images});
    return {drawn.begin(), drawn.end()};
}

static void train(const example::options& options) {
    const std::string picture = example::beside(options.save, "vae", "-drawn.pgm");
    example::check_writable(picture);
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch)
                  | data::prefetch();
    auto validation = data::source(images.validation) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    estimator model{net, evidence_loss{}, adam{.learning_rate = 1e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);
    example::write_picture(picture, draw(model.inner(), 100, options.seed), side, 10);
    std::printf("Wrote %s: a hundred images that nobody has seen before.\n", picture.c_str());

    const double nats = model.evaluate(test).loss;
    metrics::mean apart;   // the mean squared difference of image and drawing, pixel by pixel
    for (const data::batch_view& b : test) {
        const span<const float> drawn = model.predict(b, 1);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const double d = static_cast<double>(b.x[i]) - 1 / (1 + std::exp(-static_cast<double>(drawn[i])));
            apart.add(d * d, 1);
        }
    }
    example::write_onnx(options, model, images.test);
    example::tell_measured("vae", options, images.name, model.threads(), history,
                           {{"nats an image", nats}, {"mean squared difference", apart.value()}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 15, .largest_batch = 256};
    example::command_line line("Learns to draw images like those it is shown, with a variational autoencoder.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
