// SPDX-License-Identifier: BSL-1.0
// README's net and training loop on a GPU: what bench/build_cost.py compiles with nvcc.
#include <sinter/cuda.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr auto net = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

int main() {
    auto images = data::dataset(extents(28, 28, 1), std::vector<float>(64 * 784)).labels(std::vector<int>(64));
    auto training = data::source(std::move(images)) | data::batch(64);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, single<cuda>{}};
    model.train(training);
}
