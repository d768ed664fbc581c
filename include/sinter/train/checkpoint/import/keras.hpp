// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/import/convention.hpp>

/// Keras' names, as a variable's `path` gives them (`sequential/conv2d_1/kernel`;
/// keras.io/api/layers). Kernels lie as ours do: dense [in, out], convolutions [kh, kw, in, out].
namespace sinter::inline SINTER_ORDINARY::training_parts {

inline constexpr import_convention::renamed keras_tensors[] = {
    {"moving_mean", "running_mean"}, {"moving_variance", "running_variance"}, {"embeddings", "table"}};
inline constexpr import_convention::renamed keras_layers[] = {{"batch_normalization", "batch_norm"},
                                                              {"layer_normalization", "layer_norm"}};
inline constexpr std::string_view keras_ignored[] = {"seed_generator_state"};   // a dropout's
inline constexpr import_convention keras_convention{keras_tensors, keras_layers, keras_ignored, ":0",
                                                    false,         true,         false};

} // namespace sinter::training_parts
