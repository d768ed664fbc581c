// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>
#include <sinter/ops/cumprod.hpp>

namespace sinter::cpu {

/// Running sums, products or linear recurrences along the n of c.m blocks [n][inner], e = {n, inner, exclusive (or ahead), reverse};
/// p[0] = operand, (p[1] = coefficients,) last: result. In blocks of columns, whose running values stay in cache.
template <op_id K>
struct cumulation {
    static constexpr std::int64_t block = 64;

    static void run(const call& c) {
        const std::int64_t n = c.e[0], inner = c.e[1], blocks = (inner + block - 1) / block;
        const std::int64_t end = share(c.m * blocks, c.part + 1, c.parts);
        for (std::int64_t u = share(c.m * blocks, c.part, c.parts); u < end; ++u) {
            const std::int64_t first = u % blocks * block, left = inner - first, width = left < block ? left : block;
            const std::int64_t at = u / blocks * n * inner + first;
            float carry[block];
            for (std::int64_t j = 0; j < width; ++j) carry[j] = K == op::cumprod ? 1.f : 0.f;
            for (std::int64_t k = 0; k < n; ++k) row(at + (c.e[3] ? n - 1 - k : k) * inner, width, carry, c);
        }
    }

private:
    static void row(std::int64_t at, std::int64_t width, float* carry, const call& c) {
        const float* x = c.p[0] + at;
        if constexpr (K == op::linear_scan) {
            const float* a = c.p[1] + at;
            float* y = c.p[2] + at;
            if (c.e[2]) {
                for (std::int64_t j = 0; j < width; ++j) y[j] = x[j] + carry[j], carry[j] = a[j] * y[j];
            } else {
                for (std::int64_t j = 0; j < width; ++j) y[j] = carry[j] = x[j] + a[j] * carry[j];
            }
        } else {
            float* y = c.p[1] + at;
            const bool exclusive = c.e[2] != 0;
            for (std::int64_t j = 0; j < width; ++j) {
                const float next = K == op::cumprod ? carry[j] * x[j] : carry[j] + x[j];
                y[j] = exclusive ? carry[j] : next;
                carry[j] = next;
            }
        }
    }
};

template <class Body, int... X>
struct nest<op::cumsum, Body, X...> { using type = cumulation<op::cumsum>; };
template <class Body, int... X>
struct nest<op::cumprod, Body, X...> { using type = cumulation<op::cumprod>; };
template <class Body, int... X>
struct nest<op::linear_scan, Body, X...> { using type = cumulation<op::linear_scan>; };

} // namespace sinter::cpu
