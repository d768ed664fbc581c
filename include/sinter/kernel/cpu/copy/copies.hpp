// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/copy/copy_rows.hpp>
#include <sinter/kernel/cpu/copy/pixel_planes.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/panels.hpp>
#include <sinter/compiler/emit/instruction.hpp>

/// Kernels that only move data.
namespace sinter::inline SINTER_TARGET::cpu {

/// The rows of up to four operands side by side in the result. Single columns become pixels. Of
/// others some rows of one operand, then of the next: of the result no more than the first-level
/// cache holds.
struct concatenation {
    static void run(const call& c) {
        constexpr std::int64_t near = 4096;   // floats
        const std::int64_t n = c.e[concat_extent::operands], all = concat_columns(c.e),
                           end = share(c.m, c.part + 1, c.parts);
        const std::int64_t* const columns = c.e + concat_extent::parts;
        if (n == all) return n == 2 ? join<2>(c) : n == 3 ? join<3>(c) : join<4>(c);
        const std::int64_t at_once = all < near ? near / all : 1;
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; i += at_once) {
            float* to = c.p[n] + i * all;
            for (std::int64_t k = 0; k < n; to += columns[k++])
                copy_rows(c.p[k] + i * columns[k], columns[k], to, all, columns[k],
                          end - i < at_once ? end - i : at_once);
        }
    }

private:
    template <int N>
    static void join(const call& c) {
        const std::int64_t first = share(c.m, c.part, c.parts);
        const float* column[std::size_t{N}];
        for (int k = 0; k < N; ++k) column[k] = c.p[k] + first;
        join_planes<N>(column, c.p[N] + first * N, share(c.m, c.part + 1, c.parts) - first);
    }
};

/// A plain matrix to panels, or back.
template <bool Unpack>
struct packing {
    static void run(const call& c) {
        if (c.part != 0) return;
        const float* const from = c.p[copy_operand::from];
        float* const to = c.p[copy_operand::to];
        const std::int64_t rows = c.e[weights_extent::rows], columns = c.e[weights_extent::columns];
        if constexpr (Unpack) unpack_panels(from, to, rows, columns, 2 * lanes, lanes);
        else pack_panels(from, to, rows, columns, 2 * lanes, lanes);
    }
};

template <class Body, int... X>
struct nest<op::concat, Body, X...> { using type = concatenation; };
template <class Body, int... X>
struct nest<op::pack_weights, Body, X...> { using type = packing<false>; };
template <class Body, int... X>
struct nest<op::unpack_weights, Body, X...> { using type = packing<true>; };

} // namespace sinter::cpu
