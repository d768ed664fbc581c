// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/recurrent.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/tanh.hpp>

namespace sinter::inline SINTER_TARGET {

/// Where a GRU's reset gate works: on what the recurrent product gives (PyTorch, cuDNN, Keras'
/// default), or on the state before it (Cho et al. 2014, version 1).
enum class gru_reset { after_product, before_product };

/// gru<N> (Cho et al. 2014). With z, r = sigmoid(x W + h U + b), each with weights of its own:
///
///     n = tanh(x W + b + r (h U + b_r))      reset after the product
///     n = tanh(x W + b + (r h) U)            reset before it
///     h_t = z h_{t-1} + (1 - z) n
///
/// [T, F] -> [T, N], or [N] without `sequences`. Parameters kernel_k [F, N] (Glorot uniform over
/// all three), recurrent_kernel_k [N, N] (orthogonal), bias_k [N] for k of z, r, h, and
/// recurrent_bias_h [N] where it resets after the product; biases begin as zeros. (PyTorch and
/// Keras have recurrent biases for z and r, too, which are only added to the others.)
template <int Units, recurrent_options O = recurrent_options{}, gru_reset R = gru_reset::after_product>
struct gru_layer : recurrent_layer<gru_layer<Units, O, R>> {
    static constexpr const char* name = "gru";
    static constexpr recurrent_options options = O;
    template <recurrent_options P>
    using with = gru_layer<Units, P, R>;

    static constexpr bundle state(tensor x) { return detail::zero_state(x, Units); }
    static constexpr recurrent_result steps(tensor x, tensor lengths, bundle first) {
        const bundle a(detail::input_part(x, "kernel_z", "bias_z", Units, 3),
                       detail::input_part(x, "kernel_r", "bias_r", Units, 3),
                       detail::input_part(x, "kernel_h", "bias_h", Units, 3));
        const tensor uz = detail::recurrent_kernel(x, "recurrent_kernel_z", Units);
        const tensor ur = detail::recurrent_kernel(x, "recurrent_kernel_r", Units);
        const tensor uh = detail::recurrent_kernel(x, "recurrent_kernel_h", Units);
        tensor b{x.g, -1};
        if constexpr (R == gru_reset::after_product) b = parameter(x, "recurrent_bias_h", extents(Units), zeros);
        return detail::recur<O>(
            [=](bundle s, bundle in) {
                const tensor h = s[0];
                const tensor z = ops::sigmoid(in[0] + matmul(h, uz)), r = ops::sigmoid(in[1] + matmul(h, ur));
                tensor n{};
                if constexpr (R == gru_reset::after_product) n = ops::tanh(in[2] + r * (matmul(h, uh) + b));
                else n = ops::tanh(in[2] + matmul(r * h, uh));
                return bundle(z * h + (1.f - z) * n);
            },
            first, a, lengths);
    }
};
template <int Units, recurrent_options O = recurrent_options{}, gru_reset R = gru_reset::after_product>
inline constexpr gru_layer<Units, O, R> gru{};

} // namespace sinter
