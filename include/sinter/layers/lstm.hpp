// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/recurrent.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/tanh.hpp>

namespace sinter::inline SINTER_TARGET {

/// lstm<N> (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000; the same
/// equations as Keras' and PyTorch's). With i, f, o = sigmoid(x W + h U + b) and g = tanh(x W + h U
/// + b), each with weights of its own:
///
///     c_t = f c_{t-1} + i g,    h_t = o tanh(c_t)
///
/// [T, F] -> [T, N], or [N] without `sequences`; state (h, c). Parameters kernel_k [F, N] (Glorot
/// uniform over all four), recurrent_kernel_k [N, N] (orthogonal) and bias_k [N] (zeros; ones for
/// f) for k of i, f, c, o: a matrix for each gate, where Keras and PyTorch have them side by side,
/// so that each product ends in its gate. PyTorch's two biases are added.
template <int Units, recurrent_options O = recurrent_options{}>
struct lstm_layer : recurrent_layer<lstm_layer<Units, O>> {
    static constexpr const char* name = "lstm";
    static constexpr recurrent_options options = O;
    template <recurrent_options P>
    using with = lstm_layer<Units, P>;

    static constexpr bundle state(tensor x) {
        return outputs(detail::zero_state(x, Units), detail::zero_state(x, Units));
    }
    static constexpr recurrent_result steps(tensor x, tensor lengths, bundle first) {
        const bundle a(detail::input_part(x, "kernel_i", "bias_i", Units, 4),
                       detail::input_part(x, "kernel_f", "bias_f", Units, 4, ones),
                       detail::input_part(x, "kernel_c", "bias_c", Units, 4),
                       detail::input_part(x, "kernel_o", "bias_o", Units, 4));
        const tensor ui = detail::recurrent_kernel(x, "recurrent_kernel_i", Units);
        const tensor uf = detail::recurrent_kernel(x, "recurrent_kernel_f", Units);
        const tensor uc = detail::recurrent_kernel(x, "recurrent_kernel_c", Units);
        const tensor uo = detail::recurrent_kernel(x, "recurrent_kernel_o", Units);
        return detail::recur<O>(
            [=](bundle s, bundle in) {
                const tensor h = s[0], c = s[1];
                const tensor i = ops::sigmoid(in[0] + matmul(h, ui)), f = ops::sigmoid(in[1] + matmul(h, uf));
                const tensor g = ops::tanh(in[2] + matmul(h, uc)), o = ops::sigmoid(in[3] + matmul(h, uo));
                const tensor next = f * c + i * g;
                return outputs(o * ops::tanh(next), next);
            },
            first, a, lengths);
    }
};
template <int Units, recurrent_options O = recurrent_options{}>
inline constexpr lstm_layer<Units, O> lstm{};

} // namespace sinter
