// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/recurrent.hpp>
#include <sinter/ops/tanh.hpp>

namespace sinter::inline SINTER_TARGET {

/// rnn<N>: h_t = tanh(x_t W + h_{t-1} U + b) (Elman 1990). [T, F] -> [T, N], or [N] without
/// `sequences`. Parameters kernel [F, N] (Glorot uniform), recurrent_kernel [N, N] (orthogonal),
/// bias [N] (zeros), as Keras' SimpleRNN has them.
template <int Units, recurrent_options O = recurrent_options{}>
struct rnn_layer : recurrent_layer<rnn_layer<Units, O>> {
    static constexpr const char* name = "rnn";
    static constexpr recurrent_options options = O;
    template <recurrent_options P>
    using with = rnn_layer<Units, P>;

    static constexpr bundle state(tensor x) { return detail::zero_state(x, Units); }
    static constexpr recurrent_result steps(tensor x, tensor lengths, bundle first) {
        const tensor a = detail::input_part(x, "kernel", "bias", Units, 1),
                     u = detail::recurrent_kernel(x, "recurrent_kernel", Units);
        return detail::recur<O>([=](bundle h, bundle in) { return bundle(ops::tanh(in[0] + matmul(h[0], u))); }, first,
                                a, lengths);
    }
};
template <int Units, recurrent_options O = recurrent_options{}>
inline constexpr rnn_layer<Units, O> rnn{};

} // namespace sinter
