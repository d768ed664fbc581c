// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/name.hpp>

/// Deep Speech 2 (Amodei et al. 2015, "Deep Speech 2: end-to-end speech recognition in English and
/// Mandarin"), figure 1: two convolutions over spectrograms, bidirectional GRUs, letters. The
/// convolutions are the paper's arrangement of two layers in two dimensions: 32 filters of 41 x 11,
/// then 21 x 11, frequency by time, padded so that nothing is lost. The paper varies the recurrent
/// layers; those here are as deepspeech.pytorch, the widely used open one, has them. Normalisation
/// stands before a recurrent layer's products, not behind them, where it would be one for each
/// gate, and there is no lookahead.
namespace sinter::zoo {

struct deep_speech_2_size {
    int frames = 400, bins = 161;   ///< 10 ms each: 4 s; of windows of 20 ms at 16 kHz
    int filters = 32, units = 800, layers = 5;
    int letters = 29;               ///< the blank, a to z, space, apostrophe

    constexpr int steps() const { return (frames + 1) / 2; }   ///< of the result
};

namespace deep_speech_2_parts {

/// Time by frequency; at the end min(max(x, 0), 20).
template <int Filters, per_axis K, per_axis Stride>
inline constexpr auto convolution =
    conv2d<Filters, K, window{.stride = Stride}, bias::no> >> batch_norm >> hard_tanh<0, 20>;

/// What both directions say, added.
template <int Units>
struct recurrent_layer : layer<recurrent_layer<Units>> {
    static constexpr const char* name = "recurrent";
    static constexpr recurrent_options reversed{.reverse = true};
    static constexpr tensor trace(tensor x) {
        return named<"forward">(gru<Units>)(x) + named<"backward">(gru<Units, reversed>)(x);
    }
};

} // namespace deep_speech_2_parts

/// Spectrograms [frames, bins, 1] -> scores of the letters, [frames / 2, letters]: for the loss
/// ctc<most letters>, blank 0.
template <deep_speech_2_size S = deep_speech_2_size{}>
inline constexpr auto deep_speech_2 = image<S.frames, S.bins, 1> >>
                                      deep_speech_2_parts::convolution<S.filters, per_axis(11, 41), per_axis(2, 2)> >>
                                      deep_speech_2_parts::convolution<S.filters, per_axis(11, 21), per_axis(1, 2)> >>
                                      reshape<S.steps(), -1> >>
                                      [](tensor x) {
                                          for (int i = 0; i < S.layers; ++i)
                                              x = deep_speech_2_parts::recurrent_layer<S.units>{}(i ? batch_norm(x)
                                                                                                    : x);
                                          return x;
                                      } >>
                                      batch_norm >> dense<S.letters, bias::no>;

} // namespace sinter::zoo
