// SPDX-License-Identifier: BSL-1.0
//
// A sweep over an optimizer's numbers. These are values, so a sweep is a loop: the model is
// compiled once, and drawn anew for each. Sweeps over extents (units, layers) are template
// arguments, and compile a model each.
//
// accumulate<K>(o) updates in every K-th step, by the mean over the examples of all K: what loss /
// K and a step every K batches give in PyTorch, also where batches differ in size.
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <cstdio>
using namespace sinter;

constexpr auto net = features<8> >> dense<32> >> relu >> dense<1>;

double loss_with(data::pipeline& training, data::pipeline& validation, float rate, float decay) {
    estimator model{net, mse, accumulate<4>(adamw{.learning_rate = rate, .weight_decay = decay}), {.seed = 1}};
    model.train(training, {.epochs = 20, .progress = nullptr});
    return model.evaluate(validation).loss;
}

int main() {
    std::vector<float> x(8 * 1000), y(1000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) / 17.f;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[8 * i] - x[8 * i + 1];
    const data::dataset all = data::dataset(extents(8), x).targets(extents(1), y);
    auto training = all.slice(0, 800) | data::shuffle(800) | data::batch(16);
    auto validation = all.slice(800, 200) | data::batch(64);
    for (const float rate : {1e-2f, 1e-3f, 1e-4f})
        for (const float decay : {0.f, 1e-2f})
            std::printf("%g %g: %.6f\n", static_cast<double>(rate), static_cast<double>(decay),
                        loss_with(training, validation, rate, decay));
}
