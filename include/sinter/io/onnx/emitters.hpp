// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/attention.hpp>
#include <sinter/io/onnx/elementwise.hpp>
#include <sinter/io/onnx/functions.hpp>
#include <sinter/io/onnx/lookups.hpp>
#include <sinter/io/onnx/loops.hpp>
#include <sinter/io/onnx/moves.hpp>
#include <sinter/io/onnx/products.hpp>
#include <sinter/io/onnx/reductions.hpp>
#include <sinter/io/onnx/running.hpp>
#include <sinter/io/onnx/windows.hpp>

namespace sinter::inline SINTER_TARGET::onnx {

/// How every op is written that is not one ONNX operator without attributes. A family of ops is a
/// file beside this one.
inline std::vector<emitter> all_emitters() {
    std::vector<emitter> all;
    const auto append = [&](const auto& family) { all.insert(all.end(), std::begin(family), std::end(family)); };
    append(attention_emitters);
    append(elementwise_emitters);
    append(function_emitters);
    append(running_emitters);
    append(lookup_emitters);
    append(loop_emitters);
    append(window_emitters);
    append(product_emitters);
    append(reduction_emitters);
    append(move_emitters);
    return all;
}

} // namespace sinter::onnx
