// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/argsort.hpp>
#include <sinter/ops/cast.hpp>
#include <sinter/ops/random_uniform.hpp>

/// random_permutation(of, n): [n] int32, the numbers from 0 below n in random order;
/// random_shuffle(x, axis): the slices of x along an axis in random order, one of its own for each
/// example. Another order each step, the same on every device: where random_uniform's numbers would
/// stand if they were sorted. ONNX: none (TopK of RandomUniformLike).
namespace sinter::inline SINTER_TARGET::ops {

/// Order of n random numbers: [n] int32 for all, or one for each example. They have 24 bits; as
/// equal ones keep their order, a further sort of what is in random order already decides among
/// them: sorts until equal keys in all are rarer than one in n.
constexpr tensor random_order(compiler::graph* g, int n, bool batched) {
    shape s = extents(n);
    s.batched = batched;
    const auto sorted_keys = [&] { return argsort(make<op::random_uniform>(g, s, {}, {++g->streams})); };
    tensor order = sorted_keys();
    for (double equal = 0x1p-24 * n * n * n; equal > 1; equal *= 0x1p-24)
        order = cast(gather(to_float(order), sorted_keys()), n);
    return order;
}
/// `of` only says in which net. Places of an axis of n: gather(x, random_permutation(x, n), axis)
/// moves all examples alike.
constexpr tensor random_permutation(tensor of, int n) {
    if (!of.ok()) return of;
    if (n < 1) return fail(of.g, fault_kind::axis_out_of_range, op::random_uniform, extents(n), extents(1));
    return random_order(of.g, n, false);
}
/// The gradient goes back to where a slice came from.
constexpr tensor random_shuffle(tensor x, int axis = 0) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    const int a = axis_of(s, axis);
    if (a < 0) return fail(x.g, fault_kind::axis_out_of_range, op::random_uniform, s, s);
    return gather(x, random_order(x.g, s.d[a], s.batched), a);
}

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::random_permutation;
using ops::random_shuffle;
} // namespace sinter
