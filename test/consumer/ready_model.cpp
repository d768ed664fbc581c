// SPDX-License-Identifier: BSL-1.0
// A program that predicts with a model of the zoo, as it is before anything was learned.
#include <sinter/sinter.hpp>
#include <zoo/mlp.hpp>
#include <cstdio>

using namespace sinter;

int main() {
    trainer<std::remove_const_t<decltype(zoo::mlp<10, 16>)>, softmax_cross_entropy_loss, sgd, 1> model;
    const std::vector<float> pixels(28 * 28, 0.5f);
    const std::size_t scores = model.predict({.x = pixels.data(), .size = 1}).size();
    std::printf("predicted %zu scores\n", scores);
    return scores == 10 ? 0 : 1;
}
