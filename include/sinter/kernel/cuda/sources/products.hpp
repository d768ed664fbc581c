// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/kernel/cuda/work.hpp>
#include <sinter/kernel/operands.hpp>

/// Matrix products, element by element. Devices leave these to a library; the host checks programs
/// with them.
namespace sinter::inline SINTER_TARGET::gpu {

/// y[m][N] = a[m][K] b[K][N]; b may be transposed, [N][K].
template <>
struct source<static_cast<int>(op::gemm.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[gemm_extent::columns]}; }
    static constexpr library by = library::product;
    static product by_library(const work& w, float* to) {
        const std::int64_t inner = w.e[gemm_extent::depth], n = w.e[gemm_extent::columns];
        const bool transposed = w.e[gemm_extent::transposed] != 0;
        return {w.p[product_operand::a], w.p[product_operand::b], to, w.m, n, inner, w.e[gemm_extent::row_step],
                transposed ? inner : n, false, transposed};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t K = s.e[gemm_extent::depth], transposed = s.e[gemm_extent::transposed];
        const std::int64_t next_row = transposed ? 1 : s.e[gemm_extent::columns], next_column = transposed ? K : 1;
        const float *a = s.a + at.row * s.e[gemm_extent::row_step], *b = s.b + at.col * next_column;
        float sum = 0.f;
        for (std::int64_t k = 0; k < K; ++k) sum += a[k] * b[k * next_row];
        return sum;
    }
};

/// w[K][N] = sum over m rows of a[m][K] d[m][N].
template <>
struct source<static_cast<int>(op::gemm_tn.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t, const std::int64_t* e) {
        return {e[gemm_tn_extent::rows], e[gemm_tn_extent::columns]};
    }
    static constexpr library by = library::product;
    static product by_library(const work& w, float* to) {
        const std::int64_t rows = w.e[gemm_tn_extent::rows], columns = w.e[gemm_tn_extent::columns];
        return {w.p[gemm_tn_operand::a], w.p[gemm_tn_operand::d], to, rows, columns, w.m, rows, columns, true, false};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const float *a = s.a + at.row, *d = s.b + at.col;
        float sum = 0.f;
        const std::int64_t rows = s.e[gemm_tn_extent::rows], columns = s.e[gemm_tn_extent::columns];
        for (std::int64_t i = 0; i < s.m; ++i) sum += a[i * rows] * d[i * columns];
        return sum;
    }
};

/// m products [M][N] of plain matrices; x as the node's attributes.
template <>
struct source<static_cast<int>(op::matmul.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[matmul_extent::rows], e[matmul_extent::columns]};
    }
    static constexpr library by = library::product;
    static product by_library(const work& w, float* to) {
        using enum matmul_extent::position;
        const int* const x = w.s->extents;
        return {w.p[product_operand::a], w.p[product_operand::b], to, w.e[rows], w.e[columns], w.e[depth],
                w.e[a_row_step], w.e[b_row_step], x[matmul_attribute::transpose_a] != 0,
                x[matmul_attribute::transpose_b] != 0, w.m, w.e[a_step], w.e[b_step]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        using enum matmul_extent::position;
        const bool ta = s.x[matmul_attribute::transpose_a], tb = s.x[matmul_attribute::transpose_b];
        const std::int64_t matrix = at.row / s.e[rows], i = at.row % s.e[rows];
        const float *a = s.a + matrix * s.e[a_step] + i * (ta ? 1 : s.e[a_row_step]);
        const float *b = s.b + matrix * s.e[b_step] + at.col * (tb ? s.e[b_row_step] : 1);
        const std::int64_t next_a = ta ? s.e[a_row_step] : 1, next_b = tb ? 1 : s.e[b_row_step];
        float sum = 0.f;
        for (std::int64_t k = 0; k < s.e[depth]; ++k) sum += a[k * next_a] * b[k * next_b];
        return sum;
    }
};

} // namespace sinter::gpu
