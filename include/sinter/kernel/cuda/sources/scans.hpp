// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/prod.hpp>

/// Running sums and products, and products over axes.
namespace sinter::inline SINTER_TARGET::gpu {

/// m blocks [e0][e1], e2 exclusive (or ahead), e3 reverse: each element goes over those before it.
template <op_id K>
struct cumulation : plain_source {
    static constexpr int operands = K == op::linear_scan ? 2 : 1;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m * e[0], e[1]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t n = s.e[0], inner = s.e[1], own = at.row % n, last = s.e[3] ? n - 1 - own : own;
        const std::int64_t first = (at.row - own) * inner + at.col;
        float y = K == op::cumprod ? 1.f : 0.f, carry = y;
        for (std::int64_t k = 0; k <= last; ++k) {
            const std::int64_t i = first + (s.e[3] ? n - 1 - k : k) * inner;
            if constexpr (K == op::linear_scan) {
                y = s.a[i] + (s.e[2] ? carry : s.b[i] * carry);
                carry = s.e[2] ? s.b[i] * y : y;
            } else {
                const float next = K == op::cumprod ? carry * s.a[i] : carry + s.a[i];
                y = s.e[2] ? carry : next;
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

/// m blocks [e0][e1] to [e1], or one block [m][e1] where e2.
template <>
struct source<static_cast<int>(op::prod.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {(e[2] ? 1 : m) * e[1] / e[extent::columns], e[extent::columns]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t n = s.e[2] ? s.m : s.e[0];
        const float* from = s.a + at.off / s.e[1] * n * s.e[1] + at.off % s.e[1];
        float r = *from;
        for (std::int64_t i = 1; i < n; ++i) r *= from[i * s.e[1]];
        return r;
    }
};

} // namespace sinter::gpu
