// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>

/// Matrix products, element by element. Devices leave these to a library; the host checks programs with them.
namespace sinter::inline SINTER_TARGET::gpu {

/// y[m][N] = a[m][K] b[K][N]; e = {K, N, floats from one row of a to the next, is b [N][K]}.
template <>
struct source<static_cast<int>(op::gemm.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t next_row = s.e[3] ? 1 : s.e[1], next_column = s.e[3] ? s.e[0] : 1;
        const float *a = s.a + at.row * s.e[2], *b = s.b + at.col * next_column;
        float sum = 0.f;
        for (std::int64_t k = 0; k < s.e[0]; ++k) sum += a[k] * b[k * next_row];
        return sum;
    }
};

/// w[K][N] = sum over m rows of a[m][K] d[m][N]; e = {K, N}.
template <>
struct source<static_cast<int>(op::gemm_tn.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const float *a = s.a + at.row, *d = s.b + at.col;
        float sum = 0.f;
        for (std::int64_t i = 0; i < s.m; ++i) sum += a[i * s.e[0]] * d[i * s.e[1]];
        return sum;
    }
};

/// m products [M][N] of plain matrices; e = {M, N, K, from one a to the next, the same of b, row step of a, of b},
/// x = {a transposed, b transposed}.
template <>
struct source<static_cast<int>(op::matmul.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t matrix = at.row / s.e[0], i = at.row % s.e[0];
        const float *a = s.a + matrix * s.e[3] + i * (s.x[0] ? 1 : s.e[5]);
        const float *b = s.b + matrix * s.e[4] + at.col * (s.x[1] ? s.e[6] : 1);
        const std::int64_t next_a = s.x[0] ? s.e[5] : 1, next_b = s.x[1] ? 1 : s.e[6];
        float sum = 0.f;
        for (std::int64_t k = 0; k < s.e[2]; ++k) sum += a[k * next_a] * b[k * next_b];
        return sum;
    }
};

} // namespace sinter::gpu
