// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/channel_norm.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>

/// GoogLeNet (Szegedy et al. 2015, "Going deeper with convolutions"), table 1, with the two
/// auxiliary classifiers of section 5: [Extent, Extent, 3] -> [Classes] three times over, the
/// classifier's scores and those of the heads beside modules 4a and 4d; a prediction has the first
/// alone. It trains by googlenet_loss. Padding follows TensorFlow's rule; parameters are as many as
/// Caffe's model has. All widths but the classes' are divided by Narrower.
namespace sinter::zoo {

namespace googlenet_parts {

inline constexpr window by_one{}, by_two{.stride = 2};

template <int Filters, int K, window O = by_one>
inline constexpr auto conv = conv2d<Filters, K, O> >> relu;

/// The table's columns: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj.
template <int One, int Reduce3, int Three, int Reduce5, int Five, int Pooled>
inline constexpr auto inception = [](tensor x) {
    return concat({conv<One, 1>(x),
                   conv<Three, 3>(conv<Reduce3, 1>(x)),
                   conv<Five, 5>(conv<Reduce5, 1>(x)),
                   conv<Pooled, 1>(max_pool<3, by_one>(x))});
};

template <int N>   // 5 channels, alpha 0.0001, beta 0.75
inline constexpr auto stem = conv<64 / N, 7, by_two> >> max_pool<3, by_two> >> local_response_norm<>
    >> conv<64 / N, 1> >> conv<192 / N, 3> >> local_response_norm<> >> max_pool<3, by_two>;
template <int N>
inline constexpr auto modules_to_4a =
       named<"3a">(inception< 64 / N,  96 / N, 128 / N, 16 / N,  32 / N,  32 / N>)
    >> named<"3b">(inception<128 / N, 128 / N, 192 / N, 32 / N,  96 / N,  64 / N>)
    >> max_pool<3, by_two>
    >> named<"4a">(inception<192 / N,  96 / N, 208 / N, 16 / N,  48 / N,  64 / N>);
template <int N>
inline constexpr auto modules_to_4d =
       named<"4b">(inception<160 / N, 112 / N, 224 / N, 24 / N,  64 / N,  64 / N>)
    >> named<"4c">(inception<128 / N, 128 / N, 256 / N, 24 / N,  64 / N,  64 / N>)
    >> named<"4d">(inception<112 / N, 144 / N, 288 / N, 32 / N,  64 / N,  64 / N>);
template <int N>
inline constexpr auto modules_to_5b =
       named<"4e">(inception<256 / N, 160 / N, 320 / N, 32 / N, 128 / N, 128 / N>)
    >> max_pool<3, by_two>
    >> named<"5a">(inception<256 / N, 160 / N, 320 / N, 32 / N, 128 / N, 128 / N>)
    >> named<"5b">(inception<384 / N, 192 / N, 384 / N, 48 / N, 128 / N, 128 / N>);

template <int Classes>
inline constexpr auto classifier = global_avg_pool >> dropout<0.4> >> dense<Classes>;
template <int Classes, int N>
inline constexpr auto auxiliary = avg_pool<5, window{.stride = 3, .padding = padding::valid}> >> conv<128 / N, 1> >>
                                  flatten >> dense<1024 / N> >> relu >> dropout<0.7> >> dense<Classes>;

} // namespace googlenet_parts

template <int Extent = 224, int Classes = 1000, int Narrower = 1>
inline constexpr auto googlenet = image<Extent, Extent, 3> >> [](tensor x) {
    using namespace googlenet_parts;
    const tensor a = modules_to_4a<Narrower>(stem<Narrower>(x));
    const tensor d = modules_to_4d<Narrower>(a);
    const tensor scores = named<"classifier">(classifier<Classes>)(modules_to_5b<Narrower>(d));
    const bundle all = outputs(scores, named<"auxiliary_4a">(auxiliary<Classes, Narrower>)(a),
                               named<"auxiliary_4d">(auxiliary<Classes, Narrower>)(d));
    return x.g->mode() == program_mode::prediction ? bundle(scores) : all;
};

/// Cross entropy of the classifier and, by 0.3, of the two heads, all against one class number an
/// example.
struct googlenet_loss_layer {
    static constexpr target_list targets{target_kind::class_index};
    constexpr tensor operator()(bundle scores, bundle label) const {
        return softmax_cross_entropy(scores[0], label[0])
             + 0.3f * (softmax_cross_entropy(scores[1], label[0]) + softmax_cross_entropy(scores[2], label[0]));
    }
};
inline constexpr googlenet_loss_layer googlenet_loss{};

} // namespace sinter::zoo
