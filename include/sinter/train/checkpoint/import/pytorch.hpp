// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/import/convention.hpp>

/// PyTorch's names, as a state_dict has them (`features.0.weight`; docs.pytorch.org, torch.nn).
/// Kernels have their outputs first: linear [out, in], convolutions [out, in, kh, kw]. What
/// `weight` is depends on the layer.
namespace sinter::inline SINTER_ORDINARY::training_parts {

inline constexpr import_convention::renamed pytorch_tensors[] = {
    {"weight", "kernel"}, {"weight", "gamma"}, {"weight", "table"}, {"bias", "bias"}, {"bias", "beta"},
    {"running_var", "running_variance"}};
inline constexpr std::string_view pytorch_ignored[] = {"num_batches_tracked"};
inline constexpr import_convention pytorch_convention{pytorch_tensors, {}, pytorch_ignored, "", true, false, true};

} // namespace sinter::training_parts
