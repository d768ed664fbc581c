// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/cumprod.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Running sums, products or linear recurrences along the n of c.m blocks [n][inner].
template <op_id K>
struct cumulation {
    static void run(const call& c) {
        const std::int64_t inner = c.e[scan_extent::inner];
        if (inner >= lanes) return wide(c);
        if (c.e[scan_extent::reverse]) inner == 1 ? narrow<true, true>(c) : narrow<false, true>(c);
        else inner == 1 ? narrow<true, false>(c) : narrow<false, false>(c);
    }

private:
    static constexpr bool linear = K == op::linear_scan;
    static constexpr int result = linear ? 2 : 1;
    static constexpr float start = K == op::cumprod ? 1.f : 0.f;

    /// The next running value's element of the result, for floats and for vectors. `ahead`:
    /// exclusive.
    template <class T>
    static SINTER_INLINE T next(T x, [[maybe_unused]] T a, T& carry, bool ahead) {
        if constexpr (linear) {
            const T y = ahead ? x + carry : x + a * carry;
            carry = ahead ? a * y : y;
            return y;
        } else {
            const T before = carry;
            carry = K == op::cumprod ? carry * x : carry + x;
            return ahead ? before : carry;
        }
    }

    /// In blocks of columns, whose running values stay in cache.
    static void wide(const call& c) {
        constexpr std::int64_t block = 64;
        const std::int64_t n = c.e[scan_extent::n], inner = c.e[scan_extent::inner],
                           blocks = (inner + block - 1) / block;
        const bool reverse = c.e[scan_extent::reverse];
        const std::int64_t end = share(c.m * blocks, c.part + 1, c.parts);
        for (std::int64_t u = share(c.m * blocks, c.part, c.parts); u < end; ++u) {
            const std::int64_t first = u % blocks * block, left = inner - first, width = left < block ? left : block;
            const std::int64_t at = u / blocks * n * inner + first;
            float carry[block];
            for (std::int64_t j = 0; j < width; ++j) carry[j] = start;
            for (std::int64_t k = 0; k < n; ++k) row(at + (reverse ? n - 1 - k : k) * inner, width, carry, c);
        }
    }
    static void row(std::int64_t at, std::int64_t width, float* carry, const call& c) {
        const float *const x = c.p[scan_operand::x] + at, *const a = c.p[scan_operand::coefficients] + at;
        float* const y = c.p[result] + at;
        if (c.e[scan_extent::exclusive])
            for (std::int64_t j = 0; j < width; ++j) y[j] = next(x[j], linear ? a[j] : 0.f, carry[j], true);
        else
            for (std::int64_t j = 0; j < width; ++j) y[j] = next(x[j], linear ? a[j] : 0.f, carry[j], false);
    }

    /// Blocks of fewer columns than a vector has: lanes are blocks, squares of which are transposed
    /// in registers, and transposed back. One: each block is a single column.
    template <bool One, bool Reverse>
    static void narrow(const call& c) {
        const std::int64_t groups = (c.m + lanes - 1) / lanes, end = share(groups, c.part + 1, c.parts);
        const std::int64_t length = c.e[scan_extent::n] * c.e[scan_extent::inner],
                           squares = (length + lanes - 1) / lanes;
        for (std::int64_t g = share(groups, c.part, c.parts); g < end; ++g) {
            vf carry[lanes];
            unroll<lanes>([&](int j) SINTER_ALWAYS { carry[j] = splat(start); });
            int column = Reverse ? static_cast<int>(c.e[scan_extent::inner]) - 1 : 0;
            const int rows = static_cast<int>(c.m - g * lanes < lanes ? c.m - g * lanes : lanes);
            for (std::int64_t s = 0; s < squares; ++s) {
                const std::int64_t t = (Reverse ? squares - 1 - s : s) * lanes, at = g * lanes * length + t;
                square<One, Reverse>(at, length, rows, static_cast<int>(length - t < lanes ? length - t : lanes), carry,
                                     column, c);
            }
        }
    }
    static SINTER_INLINE void load_square(vf (&r)[lanes], const float* p, std::int64_t length, int rows, int width) {
        unroll<lanes>([&](int i) SINTER_ALWAYS { r[i] = i < rows ? load(p + i * length, width) : zero(); });
        transpose_lanes(r);
    }
    template <bool One, bool Reverse>
    static SINTER_INLINE void square(std::int64_t at, std::int64_t length, int rows, int width, vf (&carry)[lanes],
                                     int& column, const call& c) {
        vf x[lanes], a[lanes];
        load_square(x, c.p[scan_operand::x] + at, length, rows, width);
        if constexpr (linear) load_square(a, c.p[scan_operand::coefficients] + at, length, rows, width);
        const bool ahead = c.e[scan_extent::ahead] != 0;
        vf only = carry[0];
        unroll<lanes>([&](int k) SINTER_ALWAYS {
            const int i = Reverse ? lanes - 1 - k : k;
            if (i >= width) return;
            x[i] = next(x[i], linear ? a[i] : zero(), One ? only : carry[column], ahead);
            if constexpr (!One) {
                if (Reverse) column = column > 0 ? column - 1 : static_cast<int>(c.e[scan_extent::inner]) - 1;
                else if (++column == c.e[scan_extent::inner]) column = 0;
            }
        });
        carry[0] = One ? only : carry[0];
        transpose_lanes(x);
        unroll<lanes>([&](int i) SINTER_ALWAYS {
            if (i < rows) store(c.p[result] + at + i * length, x[i], width);
        });
    }
};

template <class Body, int... X>
struct nest<op::cumsum, Body, X...> { using type = cumulation<op::cumsum>; };
template <class Body, int... X>
struct nest<op::cumprod, Body, X...> { using type = cumulation<op::cumprod>; };
template <class Body, int... X>
struct nest<op::linear_scan, Body, X...> { using type = cumulation<op::linear_scan>; };

} // namespace sinter::cpu
