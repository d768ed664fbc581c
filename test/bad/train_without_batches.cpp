// SPDX-License-Identifier: BSL-1.0
// expect: train, evaluate and predict take batches: write set | data::batch(64)
#include <sinter/sinter.hpp>

using namespace sinter;

int main() {
    const data::dataset set = data::dataset(extents(2), std::vector<float>(2)).labels({1});
    estimator model{features<2> >> dense<2>, softmax_cross_entropy, sgd{}};
    model.train(set, {.epochs = 1});
}
