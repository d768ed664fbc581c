// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <iterator>
#include <sinter/ops/detail/elementwise.hpp>

/// Constant data. table(of, extents, fill, f): a tensor without a batch whose values the function
/// fill(to, extents, f) writes, row by row, once, before the program first runs;
/// constants<data>(of, extents): the same from an array of static storage. `of` only says in which
/// net. They are no parameters, and files do not hold them. ONNX: Constant.
namespace sinter::inline SINTER_TARGET {

namespace ops {

using table_function = void (*)(float* to, const shape& s, float f);

constexpr tensor table(tensor of, shape s, table_function fill, float f = 0) {
    if (!of.ok()) return of;
    s = s.plain();
    s.batched = false;
    s.type = dtype::f32;
    if (s.size() < 1) return fail(of.g, fault_kind::sizes_differ, op::table, s, extents(1));
    compiler::node n = compiler::node_of<op::table>();
    n.s = s;
    n.f = f;
    n.fill = fill;
    return {of.g, of.g->push(n)};
}

template <const auto& Data>
constexpr tensor constants(tensor of, const shape& s) {
    if (!of.ok()) return of;
    constexpr int n = static_cast<int>(std::size(Data));
    if (s.size() != n) return fail(of.g, fault_kind::sizes_differ, op::table, extents(n), s);
    return table(of, s, [](float* to, const shape&, float) {
        for (const auto& x : Data) *to++ = static_cast<float>(x);
    });
}

} // namespace ops
using ops::constants;
using ops::table;

} // namespace sinter
