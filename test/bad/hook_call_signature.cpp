// SPDX-License-Identifier: BSL-1.0
// expect: hook: the loop cannot make this call, which is `void after_step(training_run& run, const data::batch_view& batch)`
#include <sinter/sinter.hpp>

using namespace sinter;

// The batch is missing.
struct counter {
    int steps = 0;
    void after_step(training_run&) { ++steps; }
};

int main() {
    auto data = data::source(data::dataset(extents(2), std::vector<float>(2)).labels({1})) | data::batch(1);
    estimator model{features<2> >> dense<2>, softmax_cross_entropy, sgd{}};
    model.train(data, {.epochs = 1}, counter{});
}
