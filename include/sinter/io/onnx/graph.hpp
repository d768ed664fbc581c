// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>
#include <sinter/graph/op.hpp>
#include <sinter/graph/scope_entry.hpp>
#include <sinter/graph/shape.hpp>
#include <vector>

/// A net's prediction program as the exporter reads it: what graph/graph_view.hpp has, without what the target changes.
/// It is copied from there (train/export_onnx.hpp), so that no emitter is compiled for each target.
namespace sinter::inline SINTER_ORDINARY::onnx {

/// A value: an op, its operands, its extents, as in compiler::node (graph/graph.hpp).
struct node {
    op_id k = {};
    const char* name = "";      ///< the op's
    const char* onnx = nullptr; ///< the operator that it equals, operand by operand and without attributes; or null
    bool leaf = false;          ///< there before the program runs
    int operands = 0;
    const int* in = nullptr;    ///< the operands' nodes
    shape s;
    float f = 0;
    const int* p = nullptr;     ///< integers that the op needs; its header names their places
    void (*fill)(float* to, const shape&, float f) = nullptr;   ///< table's values
    int scope = 0, loop = 0;
};
/// A parameter or state, and its node.
struct variable {
    int id = -1;
    const char* name = "";
    int scope = 0;
};
/// As compiler::loop.
struct loop {
    int steps = 0, count = -1, condition = -1;
    bool backwards = false;
};
/// As compiler::loop_carry.
struct loop_carry {
    int loop = 0, store = -1, value = -1, next = -1;
};
/// What the net says that a port is called; null: nothing. Of `n` ports at most it says so.
struct port_names {
    const char* const* name = nullptr;
    int n = 0;
};

/// It points into the program's own graph, which must live as long.
struct graph {
    std::vector<node> n;
    std::vector<variable> variables;   ///< parameters, and then states
    std::vector<loop> loops;           ///< node::loop - 1
    std::vector<loop_carry> carries;
    base::view<const int> inputs, outputs;
    base::view<const facts::scope_entry> scopes;
    port_names input_names, output_names;
};

} // namespace sinter::onnx
