// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/permute.hpp>
#include <sinter/ops/slice.hpp>

/// Kernels that only move data: `out` is their result, written in its own order.
namespace sinter::inline SINTER_TARGET::gpu {

/// By steps (ops/detail/strides.hpp): e as set_steps leaves it.
struct strided_copy : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m * e[0] * e[1] * e[2] * e[3], e[4]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        static_assert(max_rank == 5);
        const std::int64_t rows = s.e[0] * s.e[1] * s.e[2] * s.e[3];
        std::int64_t left = at.row % rows;
        std::int64_t from = s.e[strided::offset] + at.row / rows * s.e[strided::example] + at.col * s.e[9];
        for (int i = 3; i >= 0; --i) {
            from += left % s.e[i] * s.e[5 + i];
            left /= s.e[i];
        }
        return s.a[from];
    }
};
template <>
struct source<static_cast<int>(op::permute.id)> : strided_copy {};
template <>
struct source<static_cast<int>(op::expand.id)> : strided_copy {};
template <>
struct source<static_cast<int>(op::slice.id)> : strided_copy {};

/// The other way round. Steps are divided off from the longest to the shortest; what is left over, or lies behind an axis's
/// end, lies between the steps.
template <>
struct source<static_cast<int>(op::insert.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[strided::example]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        std::int64_t left = at.col - s.e[strided::offset], from = 0;
        for (int i = 0; i < max_rank; ++i)   // backward steps count from the far end
            if (s.e[5 + i] < 0) left -= (s.e[i] - 1) * s.e[5 + i];
        for (int i = 0; i < max_rank; ++i) {
            const std::int64_t n = s.e[i], step = s.e[5 + i], length = step < 0 ? -step : step;
            std::int64_t j = 0;
            if (n > 1) {
                if (left < 0) break;
                j = left / length;
                left -= j * length;
            }
            if (j >= n) {
                left = -1;
                break;
            }
            from = from * n + (step < 0 ? n - 1 - j : j);
        }
        return left ? s.fill() : s.a[at.row * s.e[0] * s.e[1] * s.e[2] * s.e[3] * s.e[4] + from];
    }
};

/// Up to four operands [m][e0], [m][e1], ... side by side; e4 of them.
template <>
struct source<static_cast<int>(op::concat.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[0] + e[1] + e[2] + e[3]}; }
    static void arguments(source_call& s, const work& w) {
        const float** const to[] = {&s.a, &s.b, &s.c, &s.d};
        for (int i = 0; i < w.e[4]; ++i) *to[i] = w.p[i];
        s.out = w.p[w.e[4]];
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        std::int64_t j = at.col;
        if (j < s.e[0]) return s.a[at.row * s.e[0] + j];
        if ((j -= s.e[0]) < s.e[1]) return s.b[at.row * s.e[1] + j];
        if ((j -= s.e[1]) < s.e[2]) return s.c[at.row * s.e[2] + j];
        return s.d[at.row * s.e[3] + j - s.e[2]];
    }
};
/// [K][N] to [N][K]; e = {K, N}.
template <>
struct source<static_cast<int>(op::weight_transpose.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) { return s.a[at.col * s.e[1] + at.row]; }
};
/// Weights lie plain here: packing is a copy.
template <>
struct source<static_cast<int>(op::pack_weights.id)> : source<from_memory> {};
template <>
struct source<static_cast<int>(op::unpack_weights.id)> : source<from_memory> {};

/// [batch][T][n] to [T][batch][n]; e = {T, n}; m = T * batch.
template <>
struct source<static_cast<int>(op::to_steps.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t batch = s.m / s.e[0];
        return s.a[(at.row % batch * s.e[0] + at.row / batch) * s.e[1] + at.col];
    }
};
/// The other way round.
template <>
struct source<static_cast<int>(op::from_steps.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t batch = s.m / s.e[0];
        return s.a[(at.row % s.e[0] * batch + at.row / s.e[0]) * s.e[1] + at.col];
    }
};

} // namespace sinter::gpu
