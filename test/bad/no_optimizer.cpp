// SPDX-License-Identifier: BSL-1.0
// expect: estimator: an optimizer is missing after the loss
#include <sinter/sinter.hpp>

using namespace sinter;

// And how shall it be trained?
constexpr auto net = features<12> >> dense<10>;

int main() {
    auto data = data::source(data::dataset(extents(12), std::vector<float>(12)).labels({1})) | data::batch(1);
    estimator model{net, softmax_cross_entropy};
    model.train(data);
}
