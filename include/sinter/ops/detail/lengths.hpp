// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/range.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/detail/steps.hpp>
#include <sinter/ops/where.hpp>

namespace sinter::inline SINTER_TARGET::ops {

/// Notes that these numbers, if they are an input of the net (or what a view or a cast makes of
/// one), are lengths from 0 to `most`: others are refused when a batch is bound. Of computed
/// numbers nothing is known.
constexpr void bound_lengths(tensor lengths, int most) {
    if (!lengths.ok()) return;
    compiler::graph& g = *lengths.g;
    int id = lengths.id;
    while (g.n[id].k != op::input && g.n[id].operands == 1 &&
           (g.n[id].about->kind == op_kind::view || g.n[id].k == op::to_float))
        id = g.n[id].in[0];
    if (g.n[id].k != op::input) return;
    if (int& below = g.n[id].p[input_attribute::below]; below == 0 || below > most + 1) below = most + 1;
}

/// x [T, features] with zeros from each example's length on, whatever it holds there, and no
/// gradient. Weights' gradients are sums over all steps, in which zero times a NaN would be a NaN.
constexpr tensor within_lengths(tensor x, tensor lengths) {
    if (!x.ok() || !lengths.ok() || x.shape().rank != 2 || lengths.shape().size() != 1) return x;
    const int steps = x.shape().d[0];
    bound_lengths(lengths, steps);
    const tensor each = reshape(to_float(lengths), extents(1, 1));
    const tensor counts = greater(each, reshape(range(x, steps), extents(steps, 1)));
    return where(x.shape().form == layout::steps ? to_steps(counts) : counts, x, 0.f);
}

} // namespace sinter::ops
