// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/autodiff/differentiator.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>

/// The loss's gradients, appended to the graph.
namespace sinter::inline SINTER_TARGET::compiler {

/// Appends d root / d node for every node that `of` names (parameters) and that root depends on;
/// returns in `gradients` the node of each or -1. `root` must be a scalar.
constexpr void differentiate(graph& g, int root, const growing<int>& of, growing<int>& gradients) {
    differentiator d(g, root, of);
    d.run();
    for (int i = 0; i < of.n; ++i) gradients.push(d.gradient(of[i]));
}

} // namespace sinter::compiler
