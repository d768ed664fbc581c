// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <string>
#include <string_view>

/// Ops that no file is written for, and why; doc/interchange.md has the same list.
namespace sinter::inline SINTER_ORDINARY::onnx {

struct refusal {
    const char *name, *why;
};

inline constexpr refusal refusals[] = {
    {"ctc_loss", "a loss by recursion over alignments, which predictions do not need"},
    {"attention_gradient", "a gradient: ONNX has no operator for it"},
    {"attention_bias_gradient", "a gradient: ONNX has no operator for it"},
    {"local_response_norm_gradient", "a gradient: ONNX has no operator for it"},
    {"max_pool_gradient", "a gradient: ONNX has no operator for it"},
    {"max_pool_winners", "a gradient: ONNX has no operator for it"},
    {"avg_pool_gradient", "a gradient: ONNX has no operator for it"},
    {"conv2d_weight_gradient", "a gradient: ONNX has no operator for it"},
    {"convolution_weight_gradient", "a gradient: ONNX has no operator for it"},
    {"interpolate_gradient", "a gradient: ONNX has no operator for it"},
    {"pad_gradient", "a gradient: ONNX has no operator for it"},
    {"add_patches", "a gradient: ONNX has no operator for it"},
    {"trigamma", "a gradient: ONNX has no operator for it"},
    {"loop_saved", "the gradient of a loop: it reads what each iteration of another computed"},
    {"bfloat16_gemm_tn", "a gradient: ONNX has no operator for it"},
    {"unique_rows", "what a training program makes of looked-up rows' products"},
    {"unique_product", "what a training program makes of looked-up rows' products"},
    {"unique_sums", "what a training program makes of looked-up rows' products"},
    {"unique_weights", "what a training program makes of looked-up rows' products"},
    {"unique_table", "what a training program makes of looked-up rows' products"},
    {"hashed_rows", "rows by 64-bit keys, which servers keep"},
    {"product_sum", "what a training program makes of products' sums"},
    {"multiply_add", "a part of batch_norm in training"},
    {"optimizer_port", "a part of optimizers, which predictions have not"},
    {"batch_share", "a part of losses, which predictions have not"},
    {"global_loss_weight", "a part of losses, which predictions have not"},
    {"shard_sum", "statistics of a batch in training, which predictions have not"},
    {"runtime_scalar", "a part of optimizers, which predictions have not"},
};

/// The op's name, and the reason if there is one.
inline std::string why_not(const char* name) {
    for (const refusal& r : refusals)
        if (std::string_view(r.name) == name) return std::string(name) + ", " + r.why;
    return name;
}

} // namespace sinter::onnx
