// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/convolution.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/ops/one_hot.hpp>
#include <utility>

/// WaveNet (van den Oord et al. 2016, "WaveNet: a generative model for raw audio"), section 2,
/// without conditioning. The paper gives dilations, not widths: those here are of
/// ibab/tensorflow-wavenet, the first open one.
namespace sinter::zoo {

/// Dilations 1, 2, 4, ..., 2^(doublings - 1), `stacks` times over: as section 2.1 has them, and
/// each sample sees 3,071 before it and itself.
struct wavenet_size {
    int samples = 16'000;   ///< in one example; an hour is cut into many
    int symbols = 256;      ///< to which samples are quantized, by the mu-law (section 2.2)
    int residual = 32, gate = 32, skip = 512;
    int stacks = 3, doublings = 10;

    /// Of how many samples a score is made.
    constexpr int reach() const { return stacks * ((1 << doublings) - 1) + 2; }
};

namespace wavenet_parts {

template <int Dilation>
inline constexpr window before{.padding = padding::causal, .dilation = Dilation};

/// Figure 4: a gate says how much of each filter passes; one product of that goes on to the next
/// block, beside x, and another out of the net.
template <int Dilation, wavenet_size S>
struct block_layer : layer<block_layer<Dilation, S>> {
    static constexpr const char* name = "block";
    static constexpr bundle trace(tensor x) {
        const tensor filter = named<"filter">(conv1d<S.gate, 2, before<Dilation>>)(x);
        const tensor gate = named<"gate">(conv1d<S.gate, 2, before<Dilation>>)(x);
        const tensor z = ops::tanh(filter) * sigmoid(gate);
        return outputs(x + named<"residual">(dense<S.residual>)(z), named<"skip">(dense<S.skip>)(z));
    }
};

template <wavenet_size S, int... I>
constexpr tensor sum_of_skips(tensor x, std::integer_sequence<int, I...>) {
    tensor skips{};
    auto pass = [&](bundle y) {
        x = y[0];
        skips = skips.g ? skips + y[1] : y[1];
    };
    (pass(block_layer<1 << I % S.doublings, S>{}(x)), ...);
    return skips;
}

} // namespace wavenet_parts

/// Quantized samples [samples] -> scores of what comes after each one, [samples, symbols].
template <wavenet_size S = wavenet_size{}>
inline constexpr auto wavenet = indices<S.samples> >> [](tensor x) { return one_hot(x, S.symbols); } >>
                                named<"causal">(conv1d<S.residual, 2, wavenet_parts::before<1>>) >>
                                [](tensor x) {
                                    return wavenet_parts::sum_of_skips<S>(
                                        x, std::make_integer_sequence<int, S.stacks * S.doublings>{});
                                } >>
                                relu >> dense<S.skip> >> relu >> dense<S.symbols>;

} // namespace sinter::zoo
