// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/add.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/max_pool.hpp>
#include <sinter/ops/matmul.hpp>

namespace sinter::inline SINTER_TARGET {

/// Whether a layer adds a bias, one number for each output.
enum class bias { no, yes };

namespace detail {
/// Has x height, width and channels? So it has if it comes from image<>, a convolution or a pool by
/// ops that leave height and width alone. Behind reshape, permute and products the axes mean what
/// the user made of them.
constexpr bool is_image(tensor x) {
    for (int id = x.id, next = id; next >= 0;) {
        const node& n = x.g->n[id = next];
        if (n.s.rank != 3 || n.k == op::reshape || n.k == op::permute || n.k == op::gemm || n.k == op::matmul)
            return false;
        if (n.k == op::conv || n.k == op::convolution || n.k == op::max_pool || n.k == op::avg_pool) return true;
        if (n.k == op::input) return n.p[input_attribute::image];
        next = -1;
        for (int i = 0; i < n.operands && next < 0; ++i) {
            const shape& s = x.g->n[n.in[i]].s;
            if (s.batched && s.rank == 3 && s.d[0] == n.s.d[0] && s.d[1] == n.s.d[1]) next = n.in[i];
        }
    }
    return false;
}
} // namespace detail

/// dense<N>: y = x W + b over the last axis, [..., K] -> [..., N]. Parameters kernel [K, N] (Glorot
/// uniform), bias [N] (zeros). Keras' Dense, PyTorch's Linear with the transposed weight. What
/// still is an image, [H, W, C], is refused: there most likely flatten was forgotten; conv2d<N, 1>
/// is the dense layer for each pixel.
template <int Units, bias B = bias::yes>
struct dense_layer : layer<dense_layer<Units, B>> {
    static constexpr const char* name = "dense";
    static constexpr tensor trace(tensor x) {
        const shape s = x.shape();
        if (detail::is_image(x)) return fail(x.g, fault_kind::inner_extents_differ, op::gemm, s, batch_of(s.size()));
        const int k = s.last();
        const tensor w = weights(x, "kernel", extents(k, Units), glorot_uniform(k, Units));
        const tensor y = matmul(x, w);
        if constexpr (B == bias::no) return y;
        else return y + parameter(x, "bias", extents(Units), zeros);
    }
};
template <int Units, bias B = bias::yes>
inline constexpr dense_layer<Units, B> dense{};

} // namespace sinter
