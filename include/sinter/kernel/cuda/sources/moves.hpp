// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/kernel/pad_axes.hpp>
#include <sinter/ops/detail/pivot_row.hpp>
#include <sinter/ops/internal/shard_sum.hpp>
#include <sinter/ops/pad.hpp>
#include <sinter/ops/roll.hpp>

/// Further kernels that move elements.
namespace sinter::inline SINTER_TARGET::gpu {

/// The middle ones of three rows' elements, of m rows.
template <>
struct source<static_cast<int>(op::pivot_row.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t, const std::int64_t* e) { return {1, e[pivot_row_extent::width]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        using f = arithmetic<float>;
        const std::int64_t n = s.e[pivot_row_extent::width];
        const auto of = [&](int i) { return s.a[pivot_row_place(s.m, i) * n + at.col]; };
        const float x = of(0), y = of(1), z = of(2);
        return f::max(f::min(x, y), f::min(f::max(x, y), z));
    }
};
/// A copy, to which other shards' are added.
template <>
struct source<static_cast<int>(op::shard_sum.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t, const std::int64_t* e) {
        return {1, e[shard_sum_extent::elements]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) { return s.a[at.col]; }
};
/// m rows, rotated forward.
template <>
struct source<static_cast<int>(op::roll.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[roll_extent::elements]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t n = s.e[roll_extent::elements], j = at.col - s.e[roll_extent::distance];
        return s.a[at.row * n + (j < 0 ? j + n : j)];
    }
};
template <>
struct source<static_cast<int>(op::pad.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, padded_size(e)}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return s.a[at.row * unpadded_size(s.e) + pad_source(s.e, at.col)];
    }
};
template <>
struct source<static_cast<int>(op::pad_gradient.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, unpadded_size(e)}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const float* d = s.a + at.row * padded_size(s.e);
        float sum = 0.f;
        each_pad_copy(s.e, at.col, 5, [&](std::int64_t from) { sum += d[from]; });
        return sum;
    }
};

} // namespace sinter::gpu
