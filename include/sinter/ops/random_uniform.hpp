// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// Uniform numbers in [0, 1), a fresh set each step: Philox4x32-10 (Salmon et al. 2011) keyed by
/// the seed and the number of the stream, counted by (element, step), of which a block has four
/// elements' words. The same element of the same step is the same number on every device and for
/// any number of threads. ONNX: RandomUniformLike.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name random_uniform{"random_uniform"}; }

template <>
struct rule<op::random_uniform> : elementwise_rule<0, 40> {
    static constexpr const char* name = "random_uniform";
    static constexpr bool varies_by_iteration = true;
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {

/// One number an element of `like`, from a stream of its own.
constexpr tensor random_uniform(tensor like) {
    if (!like.ok()) return like;
    shape s = like.shape().form == layout::steps ? like.shape() : like.shape().plain();
    s.type = dtype::f32;
    return make<op::random_uniform>(like.g, s, {}, {++like.g->streams});
}

} // namespace ops
using ops::random_uniform;

} // namespace sinter
