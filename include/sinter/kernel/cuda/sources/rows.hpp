// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/kernel/cuda/work.hpp>
#include <sinter/ops/detail/middle_moment.hpp>

/// Rows of a table by index, their gradient, and reductions over axes in the middle.
namespace sinter::inline SINTER_TARGET::gpu {

/// a = table [V][E], b = int32 indices, which were checked when the batch was bound.
template <>
struct source<static_cast<int>(op::gather_rows.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m, e[gather_rows_extent::width]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return s.a[reinterpret_cast<const std::int32_t*>(s.b)[at.row] * s.e[gather_rows_extent::width] + at.col];
    }
};

/// Row v is the sum of those of m rows (b) whose index (a) is v, in their order, by the chains that
/// chain_thread made; extents as in ops/gather_rows.hpp. Of a round, a has the sums, floats, of
/// which a row's are all -0 or none; a row that does not occur is -0.
template <>
struct source<static_cast<int>(op::scatter_rows.id)> {
    static constexpr bool chains = true;
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t, const std::int64_t* e) {
        return {e[scatter_rows_extent::rows], e[scatter_rows_extent::width]};
    }
    static SINTER_HOST_DEVICE bool visits(const source_call& s, const place& at) {
        constexpr std::int32_t minus_zero = -2147483647 - 1;   // as bits
        if (s.e[scatter_rows_extent::body_reads] == scatter_rows_sums::of_round)
            return reinterpret_cast<const std::int32_t*>(s.a)[at.row * s.e[scatter_rows_extent::width] + at.col] !=
                   minus_zero;
        return !s.e[scatter_rows_extent::lazy] || s.first[at.row] >= 0;
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        if (s.e[scatter_rows_extent::body_reads]) return 0.f;
        float sum =
            s.first[at.row] < 0 ? -0.f : 0.f;   // which no sum of rows is: by it rows are known that do not occur
        for (std::int32_t i = s.first[at.row]; i >= 0; i = s.next[i])
            sum += s.b[i * s.e[scatter_rows_extent::width] + at.col];
        return sum;
    }
};

/// Thread i of m: next[i] is the next place of the same index, and first[index] is i if none comes
/// before; -1 where there is none (`first` must be so beforehand). No two threads write to one
/// place, so nothing depends on their order.
SINTER_HOST_DEVICE void chain_thread(std::int64_t i, const std::int32_t* index, std::int32_t* first, std::int32_t* next,
                                     std::int64_t m) {
    const std::int32_t v = index[i];
    std::int64_t j = i + 1;
    while (j < m && index[j] != v) ++j;
    next[i] = j < m ? static_cast<std::int32_t>(j) : -1;
    for (j = i - 1; j >= 0 && index[j] != v;) --j;
    if (j < 0) first[v] = static_cast<std::int32_t>(i);
}

/// m blocks [n][inner] to [inner]. Over the batch, too: one block [m][inner].
template <bool Max>
struct middle_reduction : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {(e[middle_extent::over_batch] ? 1 : m) * e[middle_extent::inner] / e[extent::columns],
                e[extent::columns]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t inner = s.e[middle_extent::inner],
                           n = s.e[middle_extent::over_batch] ? s.m : s.e[middle_extent::n];
        const float* from = s.a + at.off / inner * n * inner + at.off % inner;
        float r = *from;
        for (std::int64_t i = 1; i < n; ++i) {
            const float v = from[i * inner];
            r = Max ? larger(r, v) : r + v;
        }
        return r;
    }
};
/// a = m blocks x [n][inner], b = their means [inner], c = d as x where products with it are
/// summed.
template <>
struct source<static_cast<int>(op::middle_moment.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[moment_extent::inner] / e[extent::columns], e[extent::columns]};
    }
    static void arguments(source_call& s, const work& w) {
        if (w.e[moment_extent::kind] != static_cast<int>(sinter::detail::moment::product)) return;
        s.c = w.p[moment_operand::d];
        if (s.out) s.out = w.p[moment_operand::d + 1];
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t inner = s.e[moment_extent::inner], n = s.e[moment_extent::n],
                           first = at.off / inner * n * inner + at.off % inner;
        const auto kind = static_cast<sinter::detail::moment>(s.e[moment_extent::kind]);
        const float mean = s.b[at.off];
        float sum = 0.f;
        for (std::int64_t i = 0; i < n; ++i) {
            const float apart = s.a[first + i * inner] - mean;
            sum += apart * (kind == sinter::detail::moment::distance  ? 1.f
                            : kind == sinter::detail::moment::product ? s.c[first + i * inner]
                                                                      : apart);
        }
        return sum;
    }
};
template <>
struct source<static_cast<int>(op::middle_sum.id)> : middle_reduction<false> {};
template <>
struct source<static_cast<int>(op::middle_max.id)> : middle_reduction<true> {};

} // namespace sinter::gpu
