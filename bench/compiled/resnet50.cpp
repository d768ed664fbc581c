// SPDX-License-Identifier: BSL-1.0
// ResNet-50 (He et al. 2016) and its training step: what bench/build_cost.py compiles.
#include <cstdio>

#include <sinter/sinter.hpp>
#include <zoo/resnet.hpp>
using namespace sinter;

constexpr auto net = zoo::resnet50<>;

using resnet50 = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, momentum, 16>;

int main() {
    resnet50 model(momentum{.learning_rate = 0.1f});
    std::vector<float> pixels(16 * 224 * 224 * 3, 0.5f);
    auto images = data::dataset(extents(224, 224, 3), std::move(pixels)).labels(std::vector<std::int32_t>(16), 1000);
    auto batches = data::source(std::move(images)) | data::batch(16);
    for (const data::batch_view& b : batches) std::printf("loss %g\n", static_cast<double>(model.step(b)));
    std::printf("%d launches of %d kernels, %lld bytes\n", resnet50::training::v.n_launches,
                resnet50::training::v.n_specs, static_cast<long long>(resnet50::bytes()));
}
