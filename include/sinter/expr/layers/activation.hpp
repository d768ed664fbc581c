// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/scalar.hpp>
#include <sinter/ops/gelu.hpp>
#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/tanh.hpp>

/// Activations, as layers and as functions of a tensor: `>> relu`, `relu(x)`. Those whose names <cmath> has too (tanh,
/// exp) are functions only in sinter, and layers under `activation::`, so that `using namespace sinter` stays possible.
namespace sinter {

namespace activation {

#define SINTER_ACTIVATION(NAME)                                                   \
    struct NAME##_layer : plain_layer<NAME##_layer> {                                            \
        using plain_layer<NAME##_layer>::operator();                                             \
        static constexpr tensor trace(tensor x) { return sinter::ops::NAME(x); }                 \
        constexpr scalar operator()(scalar x) const { return {sinter::ops::NAME(x.t)}; }         \
    };                                                                            \
    inline constexpr NAME##_layer NAME{};
SINTER_ACTIVATION(relu)
SINTER_ACTIVATION(sigmoid)
SINTER_ACTIVATION(tanh)
SINTER_ACTIVATION(exp)
SINTER_ACTIVATION(gelu)
SINTER_ACTIVATION(softmax)
SINTER_ACTIVATION(log_softmax)
#undef SINTER_ACTIVATION

} // namespace activation

using activation::gelu;
using activation::log_softmax;
using activation::relu;
using activation::sigmoid;
using activation::softmax;

} // namespace sinter
