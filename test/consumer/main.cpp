// SPDX-License-Identifier: BSL-1.0
// What every way of using Sinter must be able to build: a small net, trained on a task that it can learn.
#include <sinter/sinter.hpp>
#include <cstdio>

using namespace sinter;

constexpr auto net = features<2> >> dense<16> >> relu >> dense<2>;

int main() {
    std::vector<float> points;
    std::vector<std::int32_t> sides;   // exclusive or: no line parts the two classes
    for (int i = 0; i < 256; ++i) {
        points.insert(points.end(), {i & 1 ? 1.f : -1.f, i & 2 ? 1.f : -1.f});
        sides.push_back((i & 1) ^ (i >> 1 & 1));
    }
    auto examples = data::source(data::dataset(extents(2), points).labels(sides, 2)) | data::batch(32);
    estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 0.5f}, {.threads = 1, .seed = 1}};
    model.train(examples, {.epochs = 40, .progress = nullptr});
    const double accuracy = model.evaluate(examples).accuracy;
    std::printf("trained: accuracy %.3f\n", accuracy);
    return accuracy == 1 ? 0 : 1;
}
