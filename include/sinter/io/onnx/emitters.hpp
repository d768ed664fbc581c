// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>

namespace sinter::inline SINTER_ORDINARY::onnx {

/// How every op is written that is not one ONNX operator without attributes. A family of ops is a
/// file beside this one.
SINTER_APART SINTER_COLD std::vector<emitter> all_emitters();

} // namespace sinter::onnx

#if SINTER_BODIES
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
namespace sinter::inline SINTER_ORDINARY::onnx {

SINTER_APART std::vector<emitter> all_emitters() {
    struct family {
        const emitter *begin, *end;
    };
    const family families[] = {
        {std::begin(attention_emitters), std::end(attention_emitters)},
        {std::begin(elementwise_emitters), std::end(elementwise_emitters)},
        {std::begin(function_emitters), std::end(function_emitters)},
        {std::begin(running_emitters), std::end(running_emitters)},
        {std::begin(lookup_emitters), std::end(lookup_emitters)},
        {std::begin(loop_emitters), std::end(loop_emitters)},
        {std::begin(window_emitters), std::end(window_emitters)},
        {std::begin(product_emitters), std::end(product_emitters)},
        {std::begin(reduction_emitters), std::end(reduction_emitters)},
        {std::begin(move_emitters), std::end(move_emitters)},
    };
    std::vector<emitter> all;
    for (const family& f : families) all.insert(all.end(), f.begin, f.end);
    return all;
}

} // namespace sinter::onnx
#endif
