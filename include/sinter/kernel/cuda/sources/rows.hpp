// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/index_chains.hpp>
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

/// Row v is the sum of those of m rows (b) whose index (a) is v, in their order, by the chains of
/// index_chains.hpp; extents as in ops/gather_rows.hpp. A row that does not occur is -0. Where only
/// rows that occur are wanted threads go over a list of these, whatever the table's size: what
/// `list_rows` makes of it has zeros behind the last. `listed`: a and b are such a list. Of a
/// round, a has the sums, floats, of which a row's are all -0 or none.
template <>
struct source<static_cast<int>(op::scatter_rows.id)> {
    static constexpr int operands = 2;
    static constexpr bool goes_over_list(const std::int64_t* e) {
        return e[scatter_rows_extent::lazy] && e[scatter_rows_extent::body_reads] != scatter_rows_sums::of_round &&
               e[scatter_rows_extent::body_reads] != scatter_rows_sums::listed;
    }
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        const std::int64_t all = e[scatter_rows_extent::rows], made = e[scatter_rows_extent::list_rows];
        return {made ? made : goes_over_list(e) && m < all ? m : all, e[scatter_rows_extent::width]};
    }
    static constexpr std::int64_t scratch_words(std::int64_t m, const std::int64_t* e) {
        if (e[scatter_rows_extent::body_reads] >= scatter_rows_sums::of_round) return 0;
        return chain_words(m, e[scatter_rows_extent::rows], goes_over_list(e));
    }
    template <class Engine>
    static void prepare(Engine& engine, source_call& s, const work& w, std::int32_t* scratch) {
        auto* const indices = reinterpret_cast<std::int32_t*>(w.p[scatter_rows_operand::indices]);
        s.count = indices;   // of a list
        if (w.e[scatter_rows_extent::body_reads] >= scatter_rows_sums::of_round) return;
        const bool lists = goes_over_list(w.e);
        std::int32_t* const keys = w.e[scatter_rows_extent::list_rows]
                                       ? reinterpret_cast<std::int32_t*>(w.p[scatter_rows_operand::keys])
                                       : nullptr;
        const chain_call c =
            make_chains(engine, indices, w.m, w.e[scatter_rows_extent::rows], lists, keys, scratch);
        s.first = lists ? c.order : c.first;
        s.next = c.next;
        s.count = c.count;
    }
    /// Do threads go over rows that keys name, each for a row of the table?
    static SINTER_HOST_DEVICE bool goes_over_keys(const source_call& s) {
        return s.e[scatter_rows_extent::lazy] && !s.e[scatter_rows_extent::list_rows] &&
               s.e[scatter_rows_extent::body_reads] != scatter_rows_sums::of_round;
    }
    /// Rows to go over.
    static SINTER_HOST_DEVICE std::int64_t rows(const source_call& s, std::int64_t most) {
        return goes_over_keys(s) ? *s.count : most;
    }
    static SINTER_HOST_DEVICE bool visits(const source_call& s, const place& at) {
        constexpr std::int32_t minus_zero = -2147483647 - 1;   // as bits
        return s.e[scatter_rows_extent::body_reads] != scatter_rows_sums::of_round ||
               reinterpret_cast<const std::int32_t*>(s.a)[at.off] != minus_zero;
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        if (s.e[scatter_rows_extent::body_reads] == scatter_rows_sums::listed) return s.b[at.off];
        if (s.e[scatter_rows_extent::body_reads]) return 0.f;
        const bool list = s.e[scatter_rows_extent::lazy] != 0;
        std::int32_t i = list && at.row >= *s.count ? -1 : s.first[at.row];
        float sum = i < 0 && !list ? -0.f : 0.f;   // which no sum of rows is: by it rows are known that do not occur
        for (; i >= 0; i = s.next[i]) sum += s.b[i * s.e[scatter_rows_extent::width] + at.col];
        return sum;
    }
    /// Where in the table the body finds what belongs to a row of the walk.
    static SINTER_HOST_DEVICE place target(const source_call& s, const place& at) {
        if (!goes_over_keys(s)) return at;
        place in = at;
        const auto* const keys = reinterpret_cast<const std::int32_t*>(s.a);
        in.row = s.e[scatter_rows_extent::body_reads] == scatter_rows_sums::listed ? keys[list_header + at.row]
                                                                                   : keys[s.first[at.row]];
        in.off = in.row * s.e[scatter_rows_extent::width] + at.col;
        return in;
    }
};

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
        float all = 0.f;
        for (std::int64_t i = 0; i < n;) {   // sums of some hundred rows lose fewer digits
            const std::int64_t first = i, end = i + 512 < n ? i + 512 : n;
            float r = from[i * inner];
            for (++i; i < end; ++i) {
                const float v = from[i * inner];
                r = Max ? larger(r, v) : r + v;
            }
            all = first == 0 ? r : Max ? larger(all, r) : all + r;
        }
        return all;
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
        for (std::int64_t i = 0; i < n;) {   // sums of some hundred rows lose fewer digits
            float some = 0.f;
            for (const std::int64_t end = i + 512 < n ? i + 512 : n; i < end; ++i) {
                const float apart = s.a[first + i * inner] - mean;
                some += apart * (kind == sinter::detail::moment::distance  ? 1.f
                                 : kind == sinter::detail::moment::product ? s.c[first + i * inner]
                                                                           : apart);
            }
            sum += some;
        }
        return sum;
    }
};
template <>
struct source<static_cast<int>(op::middle_sum.id)> : middle_reduction<false> {};
template <>
struct source<static_cast<int>(op::middle_max.id)> : middle_reduction<true> {};

} // namespace sinter::gpu
