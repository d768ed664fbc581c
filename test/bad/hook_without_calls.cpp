// SPDX-License-Identifier: BSL-1.0
// expect: hook: this is none, for it has none of the calls that a hook may have
#include <sinter/sinter.hpp>

using namespace sinter;

// A name that no loop knows.
struct counter {
    int steps = 0;
    void on_step(training_run&) { ++steps; }
};

int main() {
    auto data = data::source(data::dataset(extents(2), std::vector<float>(2)).labels({1})) | data::batch(1);
    estimator model{features<2> >> dense<2>, softmax_cross_entropy, sgd{}};
    model.train(data, {.epochs = 1}, counter{});
}
