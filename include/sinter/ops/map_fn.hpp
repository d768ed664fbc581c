// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/scan.hpp>

/// map_fn(f, x): f of each slice of x [T, ...], stacked: a scan that hands nothing on. Where f
/// works on whole tensors anyway, calling it with x is faster; this is for what must see one slice
/// at a time. ONNX: Scan without states.
namespace sinter::inline SINTER_TARGET {

namespace ops {

template <class F>
constexpr tensor map_fn(F f, tensor x) {
    return scan([f](bundle, bundle slice) { return scan_step{{}, f(slice[0])}; }, bundle{}, x).outputs[0];
}

} // namespace ops
using ops::map_fn;

} // namespace sinter
