// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/kernel/ordering.hpp>
#include <sinter/ops/argmax.hpp>
#include <sinter/ops/gather_nd.hpp>
#include <sinter/ops/sort.hpp>

/// Integers, and what they are places of.
namespace sinter::inline SINTER_TARGET::gpu {

template <>
struct source<static_cast<int>(op::to_int.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*) { return {m, 1}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return source_call::float_of(int32_of(s.a[at.off]));
    }
};
template <>
struct source<static_cast<int>(op::to_index.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*) { return {m, 1}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return source_call::float_of(index_below(s.a[at.off], s.e[to_index_extent::below]));
    }
};
template <>
struct source<static_cast<int>(op::place_index.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*) { return {m, 1}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t rank = s.e[place_index_extent::rank];
        const auto* const places = reinterpret_cast<const std::int32_t*>(s.a) + at.row * rank;
        return source_call::float_of(place_number(places, s.e + place_index_extent::first_axis, rank));
    }
};
/// m blocks [n][inner].
template <>
struct source<static_cast<int>(op::argmax.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[argmax_extent::inner]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t n = s.e[argmax_extent::n], inner = s.e[argmax_extent::inner];
        const bool smallest = s.e[argmax_extent::smallest] != 0;
        const float* from = s.a + at.row * n * inner + at.col;
        std::int32_t best = 0;
        for (std::int32_t i = 1; i < n; ++i)
            if (displaces(from[i * inner], from[best * inner], smallest)) best = i;
        return source_call::float_of(best);
    }
};

/// A thread for each element of the operand counts those that stand before it, and writes value and
/// place there itself.
template <>
struct source<static_cast<int>(op::sort.id)> {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m, e[sort_extent::n] * e[sort_extent::inner]};
    }
    static void arguments(source_call& s, const work& w) {
        s.first = reinterpret_cast<std::int32_t*>(w.p[sort_operand::places]);
        s.out = w.p[sort_operand::values];
    }
    static SINTER_HOST_DEVICE bool visits(const source_call& s, const place& at) {
        const std::int64_t n = s.e[sort_extent::n], inner = s.e[sort_extent::inner], k = s.e[sort_extent::count];
        const std::int64_t own = at.col / inner, j = at.col % inner;
        const bool descending = s.e[sort_extent::descending] != 0;
        const float* from = s.a + at.row * n * inner + j;
        const float v = from[own * inner];
        std::int64_t before = 0;
        for (std::int64_t i = 0; i < n && before < k; ++i) {
            const float x = from[i * inner];
            before += stands_before(x, v, descending) || (i < own && !stands_before(v, x, descending));
        }
        if (before < k) {
            const std::int64_t to = (at.row * k + before) * inner + j;
            s.out[to] = v;
            if (s.first) s.first[to] = static_cast<std::int32_t>(own);
        }
        return false;
    }
    static SINTER_HOST_DEVICE float value(const source_call&, const place&) { return 0.f; }
};

/// a = whole, b = indices.
template <>
struct source<static_cast<int>(op::gather.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[gather_extent::outer] * e[gather_extent::count], e[gather_extent::inner]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        using enum gather_extent::position;
        const std::int64_t line = at.row / s.e[count], i = at.row % s.e[count], o = line % s.e[outer],
                           b = line / s.e[outer];
        const std::int64_t from =
            b * s.e[indices_example] + o * s.e[outer_step] + i * s.e[step] + at.col * s.e[inner_step];
        const std::int64_t place = reinterpret_cast<const std::int32_t*>(s.b)[from];
        return s.a[b * s.e[whole_example] + (o * s.e[n] + place) * s.e[inner] + at.col];
    }
};
/// a = indices, b = slices: each element looks for the slices that belong to it.
template <>
struct source<static_cast<int>(op::scatter_add.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[gather_extent::outer] * e[gather_extent::n], e[gather_extent::inner]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        using enum gather_extent::position;
        const std::int64_t line = at.row / s.e[n], own = at.row % s.e[n], o = line % s.e[outer], b = line / s.e[outer];
        const std::int64_t first = b * s.e[indices_example] + o * s.e[outer_step] + at.col * s.e[inner_step];
        const std::int32_t* index = reinterpret_cast<const std::int32_t*>(s.a) + first;
        const float* from = s.b + line * s.e[count] * s.e[inner] + at.col;
        float sum = 0.f;
        for (std::int64_t i = 0; i < s.e[count]; ++i)
            if (index[i * s.e[step]] == own) sum += from[i * s.e[inner]];
        return sum;
    }
};

} // namespace sinter::gpu
