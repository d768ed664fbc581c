// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>
#include <sinter/ops/detail/pivot_row.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The middle ones of three rows' numbers. c.m = rows.
struct pivot_row {
    static void run(const call& c) {
        const std::int64_t n = c.e[pivot_row_extent::width], end = share(n, c.part + 1, c.parts);
        const float* const rows = c.p[copy_operand::from];
        const auto row = [&](int i) { return rows + pivot_row_place(c.m, i) * n; };
        const float *const a = row(0), *const b = row(1), *const d = row(2);
        for (std::int64_t i = share(n, c.part, c.parts); i < end; i += lanes) {
            const int some = end - i < lanes ? static_cast<int>(end - i) : lanes;
            const vf x = load(a + i, some), y = load(b + i, some), z = load(d + i, some);
            store(c.p[copy_operand::to] + i, max(min(x, y), min(max(x, y), z)), some);
        }
    }
};

template <class Body, int... X>
struct nest<op::pivot_row, Body, X...> { using type = pivot_row; };

} // namespace sinter::cpu
