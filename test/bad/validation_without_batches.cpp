// SPDX-License-Identifier: BSL-1.0
// expect: this is no pipeline, which gives batches: write set | data::batch(64)
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<12> >> dense<10>;

// Examples, where batches are wanted.
void train(data::pipeline& p, const data::dataset& held_out) {
    estimator{net, mse, sgd{}}.train(p, {.epochs = 3, .validation = held_out});
}
int main() {}
