// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/body.hpp>
#include <sinter/kernel/cpu/nest.hpp>

namespace sinter::cpu {

/// Sum or maximum over axes in the middle: c.m blocks [n][inner] to [inner], e = {n, inner}; p[0] = operand.
template <bool Max, class Body>
struct middle_reduction {
    static void run(const call& c) {
        const std::int64_t n = c.e[0], inner = c.e[1], columns = c.e[extent::columns], rows = inner / columns;
        const std::int64_t end = share(c.m * rows, c.part + 1, c.parts);
        for (std::int64_t row = share(c.m * rows, c.part, c.parts); row < end; ++row) {
            const float* from = c.p[0] + row / rows * n * inner + row % rows * columns;
            for (std::int64_t j = 0; j < columns; j += lanes) {
                const int left = columns - j < lanes ? static_cast<int>(columns - j) : lanes;
                vf s = load(from + j, left);
                for (std::int64_t i = 1; i < n; ++i) {
                    const vf v = load(from + i * inner + j, left);
                    s = Max ? max(s, v) : s + v;
                }
                Body::vector(s, left, row * columns + j, row, static_cast<int>(j), c);
            }
        }
    }
};

template <class Body, int... X>
struct nest<op::middle_sum, Body, X...> { using type = middle_reduction<false, Body>; };
template <class Body, int... X>
struct nest<op::middle_max, Body, X...> { using type = middle_reduction<true, Body>; };

} // namespace sinter::cpu
