// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/input.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/embedding_bag.hpp>
#include <sinter/ops/slice.hpp>

/// Nets whose tables' gradients are lists of rows: several lookups in one table, bags, distinct rows.
namespace sinter::test::table_nets {

template <int Rows, int Bag>
inline constexpr auto tables_of = indices<6> >> [](tensor x) {
    const tensor once = parameter(x, "once", extents(Rows, 5), normal_of(0.5f));
    const tensor twice = parameter(x, "twice", extents(Rows, 3), normal_of(0.5f));
    const tensor bag = parameter(x, "bag", extents(Rows, Bag), normal_of(0.5f));
    const tensor a = ops::gather_rows(once, ops::slice(x, 0, 0, 3));
    const tensor b = ops::gather_rows(twice, ops::slice(x, 0, 1, 2));
    const tensor c = ops::gather_rows(twice, ops::slice(x, 0, 3, 3)) * 2.f;
    const tensor d = ops::embedding_bag(bag, ops::slice(x, 0, 2, 4), {.combine = combine::mean});
    return dense<2>(
        ops::concat({ops::reshape(a, extents(15)), ops::reshape(b, extents(6)), ops::reshape(c, extents(9)), d}));
};
inline constexpr int rows = 40;
inline constexpr auto tables = tables_of<rows, 17>;
// each distinct row is multiplied once
inline constexpr auto columns = indices<3> >> embedding<60, 8> >> flatten >> dense<16>;

} // namespace sinter::test::table_nets
