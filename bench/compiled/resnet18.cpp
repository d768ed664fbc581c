// SPDX-License-Identifier: BSL-1.0
// ResNet-18 (He et al. 2016) and its training step: what bench/build_cost.py compiles.
#include <cstdio>

#include <sinter/sinter.hpp>
using namespace sinter;

constexpr window by_one{}, by_two{.stride = 2};

template <int Filters, int K, window O = by_one>
constexpr tensor normed(tensor x) {
    return batch_norm(conv2d<Filters, K, O, bias::no>(x));
}
template <int Filters, window O = by_one>
constexpr tensor branch(tensor x) {
    return normed<Filters, 3>(relu(normed<Filters, 3, O>(x)));
}
/// Two convolutions beside which the input passes unchanged; the first of a stage that halves the image makes it fit.
template <int Filters>
constexpr auto basic = [](tensor x) { return relu(x + branch<Filters>(x)); };
template <int Filters>
constexpr auto halving = [](tensor x) { return relu(normed<Filters, 1, by_two>(x) + branch<Filters, by_two>(x)); };

constexpr auto net = image<224, 224, 3>
    >> named<"stem">(conv2d<64, 7, by_two, bias::no> >> batch_norm >> relu >> max_pool<3, window{.stride = 2}>)
    >> named<"conv2_1">(basic<64>) >> named<"conv2_2">(basic<64>) >> named<"conv3_1">(halving<128>) >> named<"conv3_2">(basic<128>)
    >> named<"conv4_1">(halving<256>) >> named<"conv4_2">(basic<256>) >> named<"conv5_1">(halving<512>) >> named<"conv5_2">(basic<512>)
    >> global_avg_pool >> dense<1000>;

using resnet18 = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, momentum, 16>;

int main() {
    resnet18 model(momentum{.learning_rate = 0.1f});
    std::vector<float> pixels(16 * 224 * 224 * 3, 0.5f);
    auto batches = data::source(data::example_set(extents(224, 224, 3), std::move(pixels)).labels(std::vector<std::int32_t>(16), 1000))
                 | data::batch(16);
    for (const data::batch_view& b : batches) std::printf("loss %g\n", static_cast<double>(model.step(b)));
    std::printf("%d launches of %d kernels, %lld bytes\n", resnet18::training::v.n_launches, resnet18::training::v.n_specs,
                static_cast<long long>(resnet18::bytes()));
}
