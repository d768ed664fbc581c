// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/permute.hpp>
#include <sinter/ops/slice.hpp>

/// Kernels that only move data: `out` is their result, written in its own order.
namespace sinter::inline SINTER_TARGET::gpu {

/// By steps (ops/detail/strides.hpp): rows go along the last axis.
struct strided_copy : plain_source {
    static constexpr int last = max_rank - 1;
    static SINTER_HOST_DEVICE constexpr std::int64_t rows_of(const std::int64_t* e) {
        std::int64_t rows = 1;
        for (int i = 0; i < last; ++i) rows *= e[strided::extents + i];
        return rows;
    }
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * rows_of(e), e[strided::extents + last]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t rows = rows_of(s.e);
        std::int64_t left = at.row % rows;
        std::int64_t from =
            s.e[strided::offset] + at.row / rows * s.e[strided::example] + at.col * s.e[strided::steps + last];
        for (int i = last - 1; i >= 0; --i) {
            const std::int64_t n = s.e[strided::extents + i];
            from += left % n * s.e[strided::steps + i];
            left /= n;
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

/// The other way round. Steps are divided off from the longest to the shortest; what is left over,
/// or lies behind an axis's end, lies between the steps.
template <>
struct source<static_cast<int>(op::insert.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[strided::example]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        std::int64_t left = at.col - s.e[strided::offset], from = 0;
        for (int i = 0; i < max_rank; ++i)   // backward steps count from the far end
            if (s.e[strided::steps + i] < 0) left -= (s.e[strided::extents + i] - 1) * s.e[strided::steps + i];
        for (int i = 0; i < max_rank; ++i) {
            const std::int64_t n = s.e[strided::extents + i], step = s.e[strided::steps + i],
                               length = step < 0 ? -step : step;
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
        return left ? s.fill() : s.a[at.row * strided_copy::rows_of(s.e) * s.e[strided::extents + max_rank - 1] + from];
    }
};

/// Up to four operands, rows of each side by side.
template <>
struct source<static_cast<int>(op::concat.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, concat_columns(e)}; }
    static void arguments(source_call& s, const work& w) {
        const float** const to[] = {&s.a, &s.b, &s.c, &s.d};
        for (int i = 0; i < w.e[concat_extent::operands]; ++i) *to[i] = w.p[i];
        s.out = w.p[w.e[concat_extent::operands]];
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        std::int64_t j = at.col;
        const float* const from[] = {s.a, s.b, s.c, s.d};
        int i = 0;
        for (; i < concat_extent::operands - 1 && j >= s.e[concat_extent::parts + i]; ++i)
            j -= s.e[concat_extent::parts + i];
        return from[i][at.row * s.e[concat_extent::parts + i] + j];
    }
};
/// [rows][columns] to [columns][rows].
template <>
struct source<static_cast<int>(op::weight_transpose.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t, const std::int64_t* e) {
        return {e[transpose_extent::columns], e[transpose_extent::rows]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return s.a[at.col * s.e[transpose_extent::columns] + at.row];
    }
};
/// Weights lie plain here: packing is a copy.
struct packed_copy : source<from_memory> {
    static constexpr walk_extents walk(std::int64_t, const std::int64_t* e) {
        return {e[weights_extent::rows], e[weights_extent::columns]};
    }
};
template <>
struct source<static_cast<int>(op::pack_weights.id)> : packed_copy {};
template <>
struct source<static_cast<int>(op::unpack_weights.id)> : packed_copy {};

/// [batch][T][n] to [T][batch][n]; m = T * batch.
template <>
struct source<static_cast<int>(op::to_steps.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[steps_extent::width]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t steps = s.e[steps_extent::steps], batch = s.m / steps;
        return s.a[(at.row % batch * steps + at.row / batch) * s.e[steps_extent::width] + at.col];
    }
};
/// The other way round.
template <>
struct source<static_cast<int>(op::from_steps.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[steps_extent::width]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t steps = s.e[steps_extent::steps], batch = s.m / steps;
        return s.a[(at.row % steps * batch + at.row / steps) * s.e[steps_extent::width] + at.col];
    }
};

} // namespace sinter::gpu
