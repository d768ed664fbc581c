// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/column_sums.hpp>
#include <sinter/compiler/passes/early_copies.hpp>
#include <sinter/compiler/passes/fuse.hpp>
#include <sinter/compiler/passes/fused_producers.hpp>
#include <sinter/compiler/passes/hoist.hpp>
#include <sinter/compiler/passes/loop_order.hpp>
#include <sinter/compiler/passes/pool_gradients.hpp>
#include <sinter/compiler/passes/product_sums.hpp>
#include <sinter/compiler/passes/remote_tables.hpp>
#include <sinter/compiler/passes/round_products.hpp>
#include <sinter/compiler/passes/sink.hpp>
#include <sinter/compiler/passes/transposed_weights.hpp>
#include <sinter/compiler/passes/unique_rows.hpp>

/// All passes, in the order in which they run. stages.hpp runs these lists while a program is
/// compiled, and the tests run the same lists over random graphs. What always happens, whatever the
/// target, and is no pass: tracing, differentiation, the plan of memory and emission.
namespace sinter::inline SINTER_TARGET::compiler::pass {

/// run(graph&, settings): the net as it was traced.
using of_trace = pass_list<hoist>;
/// run(graph_view from, graph& to, training, settings): a new graph of the traced one; see
/// remote_tables.hpp.
using of_tables = pass_list<remote_tables>;
/// run(graph&, gradients&, settings): the net and its gradients, to which nodes may be added.
using of_gradients = pass_list<column_sums>;
/// run(graph_view, nodes, settings): nodes become others, in place; none is added.
using in_place = pass_list<pool_gradients, unique_rows, transposed_weights, product_sums>;
/// run(graph_view from, graph& to, gradients&, settings): a new graph is made.
using rewriting = pass_list<round_products>;
/// run(graph_view, grouping&, settings): nodes become groups, and groups take their order. In two
/// constant evaluations.
using grouping_nodes = pass_list<fuse>;
using of_groups = pass_list<sink, loop_order, early_copies, fused_producers>;

} // namespace sinter::pass
