// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/detail/size_along.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/var.hpp>

/// stddev(x, {axes}, ddof): the square root of var(). Where it is 0, so is its gradient. NumPy's
/// and PyTorch's std. ONNX: none.
namespace sinter::inline SINTER_TARGET {

namespace ops {

/// The square root whose gradient at 0 is 0.
constexpr tensor root_of_squares(tensor a) {
    if (!a.ok()) return a;
    const tensor none = equal(a, 0.f);
    return sqrt(a + none) - none;
}
constexpr tensor stddev(tensor x, std::initializer_list<int> axes, int ddof = 0, keep k = keep::no) {
    if (!x.ok()) return x;
    x = unpack(x);
    x = x - sinter::detail::first_along(x, parse_axes(x.shape(), axes));   // sums of what is large may overflow
    if (!x.ok()) return x;
    const tensor d = x - mean(x, axes, keep::yes), size = size_along(d, axes);
    return scaled_back(root_of_squares(var(d / size, axes, ddof, k)), size);
}

} // namespace ops
using ops::stddev;

} // namespace sinter
