// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/graph/number.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/expr/scalar.hpp>
#include <sinter/ops/celu.hpp>
#include <sinter/ops/elu.hpp>
#include <sinter/ops/gelu.hpp>
#include <sinter/ops/gelu_tanh.hpp>
#include <sinter/ops/glu.hpp>
#include <sinter/ops/hard_sigmoid.hpp>
#include <sinter/ops/hard_swish.hpp>
#include <sinter/ops/hard_tanh.hpp>
#include <sinter/ops/leaky_relu.hpp>
#include <sinter/ops/log_sigmoid.hpp>
#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/mish.hpp>
#include <sinter/ops/prelu.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/relu6.hpp>
#include <sinter/ops/selu.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/silu.hpp>
#include <sinter/ops/softplus.hpp>
#include <sinter/ops/softsign.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/ops/threshold.hpp>

/// Activations, as layers and as functions of a tensor or a scalar: `>> relu`, `relu(x)`; some with
/// numbers, `>> leaky_relu<0.2f>`, and `>> leaky_relu<>` with the usual ones. Those whose names
/// <cmath> has too (tanh, exp) are functions only in sinter, and layers under `activation::`, so
/// that `using namespace sinter` stays possible.
namespace sinter::inline SINTER_TARGET {

namespace activation {

#define SINTER_ACTIVATION(NAME)                                                   \
    struct NAME##_layer : plain_layer<NAME##_layer> {                                            \
        using plain_layer<NAME##_layer>::operator();                                             \
        static constexpr tensor trace(tensor x) { return sinter::ops::NAME(x); }                 \
        constexpr scalar operator()(scalar x) const { return {sinter::ops::NAME(x.t)}; }         \
    };                                                                            \
    inline constexpr NAME##_layer NAME{};
SINTER_ACTIVATION(relu)
SINTER_ACTIVATION(relu6)
SINTER_ACTIVATION(sigmoid)
SINTER_ACTIVATION(hard_sigmoid)
SINTER_ACTIVATION(log_sigmoid)
SINTER_ACTIVATION(tanh)
SINTER_ACTIVATION(exp)
SINTER_ACTIVATION(gelu)
SINTER_ACTIVATION(gelu_tanh)
SINTER_ACTIVATION(silu)
SINTER_ACTIVATION(hard_swish)
SINTER_ACTIVATION(mish)
SINTER_ACTIVATION(selu)
SINTER_ACTIVATION(softplus)
SINTER_ACTIVATION(softsign)
#undef SINTER_ACTIVATION

// Not functions of one element: layers and functions of tensors alone.
#define SINTER_ACTIVATION(NAME)                                                   \
    struct NAME##_layer : plain_layer<NAME##_layer> {                                            \
        static constexpr tensor trace(tensor x) { return sinter::ops::NAME(x); }                 \
    };                                                                            \
    inline constexpr NAME##_layer NAME{};
SINTER_ACTIVATION(softmax)
SINTER_ACTIVATION(log_softmax)
SINTER_ACTIVATION(glu)
#undef SINTER_ACTIVATION

#define SINTER_ACTIVATION(NAME)                                                   \
    template <number... A>                                                        \
    struct NAME##_layer : plain_layer<NAME##_layer<A...>> {                                      \
        using plain_layer<NAME##_layer<A...>>::operator();                                       \
        static constexpr tensor trace(tensor x) { return sinter::ops::NAME(x, A.value...); }     \
        constexpr scalar operator()(scalar x) const { return {sinter::ops::NAME(x.t, A.value...)}; } \
    };
SINTER_ACTIVATION(leaky_relu)
SINTER_ACTIVATION(elu)
SINTER_ACTIVATION(celu)
SINTER_ACTIVATION(hard_tanh)
SINTER_ACTIVATION(threshold)
#undef SINTER_ACTIVATION
template <number Slope = 0.01f>
inline constexpr leaky_relu_layer<Slope> leaky_relu{};
template <number Alpha = 1>
inline constexpr elu_layer<Alpha> elu{};
template <number Alpha = 1>
inline constexpr celu_layer<Alpha> celu{};
template <number Low = -1, number High = 1>
inline constexpr hard_tanh_layer<Low, High> hard_tanh{};
template <number At, number Otherwise>
inline constexpr threshold_layer<At, Otherwise> threshold{};

/// Learns the slope below zero, one for each element of the last axis; it begins at 0.25, as
/// PyTorch's.
struct prelu_layer : layer<prelu_layer> {
    static constexpr const char* name = "prelu";
    static constexpr tensor trace(tensor x) {
        return ops::prelu(x, parameter(x, "slope", extents(x.shape().last()), constant_of(0.25f)));
    }
};
inline constexpr prelu_layer prelu{};

} // namespace activation

using activation::celu;
using activation::elu;
using activation::gelu;
using activation::gelu_tanh;
using activation::glu;
using activation::hard_sigmoid;
using activation::hard_swish;
using activation::hard_tanh;
using activation::leaky_relu;
using activation::log_sigmoid;
using activation::log_softmax;
using activation::mish;
using activation::prelu;
using activation::relu;
using activation::relu6;
using activation::selu;
using activation::sigmoid;
using activation::silu;
using activation::softmax;
using activation::softplus;
using activation::softsign;
using activation::threshold;

} // namespace sinter
