// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/add.hpp>
#include <sinter/ops/matmul.hpp>

namespace sinter {

enum class bias { no, yes };

/// dense<N>: y = x W + b over the last axis, [..., K] -> [..., N]. Parameters kernel [K, N] (Glorot uniform), bias [N]
/// (zeros). Keras' Dense, PyTorch's Linear with the transposed weight.
template <int Units, bias B = bias::yes>
struct dense_layer : layer<dense_layer<Units, B>> {
    static_assert(Units > 0, "dense: the number of units must be positive");
    static constexpr const char* name = "dense";
    static constexpr tensor trace(tensor x) {
        const int k = x.shape().last();
        const tensor w = weights(x, "kernel", extents(k, Units), glorot_uniform(k, Units));
        if (x.shape().rank > 1 && x.shape().rank != 2) {   // an image: most likely flatten was forgotten
            if (x.shape().rank == 3) {
                shape flat = batch_of(x.shape().size());
                return fail(x.g, fault_kind::inner_extents_differ, op::gemm, x.shape(), flat);
            }
        }
        const tensor y = matmul(x, w);
        if constexpr (B == bias::no) return y;
        else return y + parameter(x, "bias", extents(Units), zeros);
    }
};
template <int Units, bias B = bias::yes>
inline constexpr dense_layer<Units, B> dense{};

} // namespace sinter
