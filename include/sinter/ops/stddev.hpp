// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/size_along.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/greater.hpp>
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
    // A power of two by which what is large is divided: its distances, and sums of them, may overflow.
    const tensor large = 1.f + greater(stop_gradient(max(abs(x), axes, keep::yes)), 0x1p64f) * 0x1p64f;
    x = x / large;
    x = x - sinter::detail::pivot_along(x, parse_axes(x.shape(), axes));
    if (!x.ok()) return x;
    const tensor d = x - mean(x, axes, keep::yes), size = size_along(d, axes);
    return scaled_back(scaled_back(root_of_squares(var(d / size, axes, ddof, k)), size), large);
}

} // namespace ops
using ops::stddev;

} // namespace sinter
