// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/shape.hpp>
#include <sinter/kernel/cuda/source.hpp>

/// Kernels that only move data: `out` is their result, written in its own order.
namespace sinter::gpu {

/// e = five extents of the result, five steps in the operand; e[first_q] = from one example of the operand to the next.
struct strided_copy : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        static_assert(max_rank == 5);
        const std::int64_t rows = s.e[0] * s.e[1] * s.e[2] * s.e[3];
        std::int64_t left = at.row % rows, from = at.row / rows * s.e[extent::first_q] + at.col * s.e[9];
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

/// a [m][e0] and b [m][e1] side by side.
template <>
struct source<static_cast<int>(op::concat.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return at.col < s.e[0] ? s.a[at.row * s.e[0] + at.col] : s.b[at.row * s.e[1] + at.col - s.e[0]];
    }
};
/// Elements e1 .. e1 + e2 - 1 of each of m rows of e0.
template <>
struct source<static_cast<int>(op::slice.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return s.a[at.row * s.e[0] + s.e[1] + at.col];
    }
};
/// The other way round, zeros elsewhere.
template <>
struct source<static_cast<int>(op::insert.id)> : plain_source {
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t j = at.col - s.e[1];
        return j >= 0 && j < s.e[2] ? s.a[at.row * s.e[2] + j] : 0.f;
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

} // namespace sinter::gpu
