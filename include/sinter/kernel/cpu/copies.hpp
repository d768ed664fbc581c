// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/shape.hpp>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/simd.hpp>
#include <sinter/kernel/panels.hpp>
#include <sinter/program/word.hpp>

/// Kernels that only move data.
namespace sinter::cpu {

/// permute and expand: the result in its own order from an operand with other steps. p[0] to p[1]; e = five extents of
/// the result, five steps in the operand; e[first_q] = from one example of the operand to the next.
struct strided_copy {
    static void run(const call& c) {
        static_assert(max_rank == 5);
        const std::int64_t *d = c.e, *step = c.e + 5;
        const std::int64_t rows = d[0] * d[1] * d[2] * d[3], end = share(rows * c.m, c.part + 1, c.parts);
        for (std::int64_t r = share(rows * c.m, c.part, c.parts); r < end; ++r) {
            std::int64_t at = r % rows, from = r / rows * c.e[extent::first_q];
            for (int i = 3; i >= 0; --i) {
                from += at % d[i] * step[i];
                at /= d[i];
            }
            float* to = c.p[1] + r * d[4];
            for (std::int64_t j = 0; j < d[4]; ++j) to[j] = c.p[0][from + j * step[4]];
        }
    }
};

/// p[0] [m][e0] and p[1] [m][e1] side by side in p[2] [m][e0 + e1].
struct concatenation {
    static void run(const call& c) {
        const std::int64_t a = c.e[0], b = c.e[1], end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i) {
            std::memcpy(c.p[2] + i * (a + b), c.p[0] + i * a, 4 * static_cast<std::size_t>(a));
            std::memcpy(c.p[2] + i * (a + b) + a, c.p[1] + i * b, 4 * static_cast<std::size_t>(b));
        }
    }
};

/// Elements e1 .. e1 + e2 - 1 of each of m rows of e0: p[0] to p[1]; Insert: the other way, zeros elsewhere.
template <bool Insert>
struct slicing {
    static void run(const call& c) {
        const std::int64_t all = c.e[0], first = c.e[1], n = c.e[2], end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i) {
            if constexpr (Insert) {
                std::memset(c.p[1] + i * all, 0, 4 * static_cast<std::size_t>(all));
                std::memcpy(c.p[1] + i * all + first, c.p[0] + i * n, 4 * static_cast<std::size_t>(n));
            } else {
                std::memcpy(c.p[1] + i * n, c.p[0] + i * all + first, 4 * static_cast<std::size_t>(n));
            }
        }
    }
};

/// A plain matrix [e0][e1] to panels, or back; p[0] to p[1].
template <bool Unpack>
struct packing {
    static void run(const call& c) {
        if (c.part != 0) return;
        if constexpr (Unpack) unpack_panels(c.p[0], c.p[1], c.e[0], c.e[1], 2 * lanes, lanes);
        else pack_panels(c.p[0], c.p[1], c.e[0], c.e[1], 2 * lanes, lanes);
    }
};

template <class Body, int... X>
struct nest<op::permute, Body, X...> { using type = strided_copy; };
template <class Body, int... X>
struct nest<op::expand, Body, X...> { using type = strided_copy; };
template <class Body, int... X>
struct nest<op::concat, Body, X...> { using type = concatenation; };
template <class Body, int... X>
struct nest<op::slice, Body, X...> { using type = slicing<false>; };
template <class Body, int... X>
struct nest<op::insert, Body, X...> { using type = slicing<true>; };
template <class Body, int... X>
struct nest<op::pack_weights, Body, X...> { using type = packing<false>; };
template <class Body, int... X>
struct nest<op::unpack_weights, Body, X...> { using type = packing<true>; };

} // namespace sinter::cpu
