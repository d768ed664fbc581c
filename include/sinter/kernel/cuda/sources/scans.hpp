// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/prod.hpp>

/// Running sums and products, and products over axes.
namespace sinter::inline SINTER_TARGET::gpu {

/// m blocks [n][inner]: each element goes over those before it.
template <op_id K>
struct cumulation : plain_source {
    static constexpr int operands = K == op::linear_scan ? 2 : 1;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[scan_extent::n], e[scan_extent::inner]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t n = s.e[scan_extent::n], inner = s.e[scan_extent::inner], own = at.row % n;
        const bool reverse = s.e[scan_extent::reverse], exclusive = s.e[scan_extent::exclusive];   // or ahead
        const std::int64_t last = reverse ? n - 1 - own : own;
        const std::int64_t first = (at.row - own) * inner + at.col;
        float y = K == op::cumprod ? 1.f : 0.f, carry = y;
        for (std::int64_t k = 0; k <= last; ++k) {
            const std::int64_t i = first + (reverse ? n - 1 - k : k) * inner;
            if constexpr (K == op::linear_scan) {
                y = s.a[i] + (exclusive ? carry : s.b[i] * carry);
                carry = exclusive ? s.b[i] * y : y;
            } else {
                const float next = K == op::cumprod ? carry * s.a[i] : carry + s.a[i];
                y = exclusive ? carry : next;
                carry = next;
            }
        }
        return y;
    }
};
template <>
struct source<static_cast<int>(op::cumsum.id)> : cumulation<op::cumsum> {};
template <>
struct source<static_cast<int>(op::cumprod.id)> : cumulation<op::cumprod> {};
template <>
struct source<static_cast<int>(op::linear_scan.id)> : cumulation<op::linear_scan> {};

/// m blocks [n][inner] to [inner], or one block [m][inner] over the batch.
template <>
struct source<static_cast<int>(op::prod.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {(e[middle_extent::over_batch] ? 1 : m) * e[middle_extent::inner] / e[extent::columns],
                e[extent::columns]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t inner = s.e[middle_extent::inner],
                           n = s.e[middle_extent::over_batch] ? s.m : s.e[middle_extent::n];
        const float* from = s.a + at.off / inner * n * inner + at.off % inner;
        float r = *from;
        for (std::int64_t i = 1; i < n; ++i) r *= from[i * inner];
        return r;
    }
};

} // namespace sinter::gpu
