// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/kernel/ordering.hpp>
#include <sinter/ops/argmax.hpp>
#include <sinter/ops/gather_nd.hpp>
#include <sinter/ops/sort.hpp>

/// Whole numbers, and what they are places of.
namespace sinter::inline SINTER_TARGET::gpu {

template <>
struct source<static_cast<int>(op::to_int.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*) { return {m, 1}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return source_call::float_of(whole_number(s.a[at.off]));
    }
};
template <>
struct source<static_cast<int>(op::to_index.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*) { return {m, 1}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return source_call::float_of(index_below(s.a[at.off], s.e[0]));
    }
};
template <>
struct source<static_cast<int>(op::place_index.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t*) { return {m, 1}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return source_call::float_of(place_number(reinterpret_cast<const std::int32_t*>(s.a) + at.row * s.e[0], s.e + 1, s.e[0]));
    }
};
/// m blocks [e0][e1]; e2: the smallest.
template <>
struct source<static_cast<int>(op::argmax.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[1]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const float* from = s.a + at.row * s.e[0] * s.e[1] + at.col;
        std::int32_t best = 0;
        for (std::int32_t i = 1; i < s.e[0]; ++i)
            if (displaces(from[i * s.e[1]], from[best * s.e[1]], s.e[2] != 0)) best = i;
        return source_call::float_of(best);
    }
};

/// A thread for each element of the operand counts those that stand before it, and writes value and place there itself.
template <>
struct source<static_cast<int>(op::sort.id)> {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[0] * e[1]}; }
    static void arguments(source_call& s, const work& w) {
        s.first = reinterpret_cast<std::int32_t*>(w.p[1]);
        s.out = w.p[2];
    }
    static SINTER_HOST_DEVICE bool visits(const source_call& s, const place& at) {
        const std::int64_t n = s.e[0], inner = s.e[1], k = s.e[2], own = at.col / inner, j = at.col % inner;
        const float* from = s.a + at.row * n * inner + j;
        const float v = from[own * inner];
        std::int64_t before = 0;
        for (std::int64_t i = 0; i < n && before < k; ++i) {
            const float x = from[i * inner];
            before += stands_before(x, v, s.e[3] != 0) || (i < own && !stands_before(v, x, s.e[3] != 0));
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

/// a = whole, b = indices; e as rule<op::gather> gives it.
template <>
struct source<static_cast<int>(op::gather.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m * e[0] * e[3], e[2]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t i = at.row % s.e[3], o = at.row / s.e[3] % s.e[0], b = at.row / s.e[3] / s.e[0];
        const std::int64_t place = reinterpret_cast<const std::int32_t*>(s.b)[b * s.e[8] + o * s.e[4] + i * s.e[5] + at.col * s.e[6]];
        return s.a[b * s.e[7] + (o * s.e[1] + place) * s.e[2] + at.col];
    }
};
/// a = indices, b = slices: each element looks for the slices that belong to it.
template <>
struct source<static_cast<int>(op::scatter_add.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m * e[0] * e[1], e[2]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t own = at.row % s.e[1], o = at.row / s.e[1] % s.e[0], b = at.row / s.e[1] / s.e[0];
        const std::int32_t* index = reinterpret_cast<const std::int32_t*>(s.a) + b * s.e[8] + o * s.e[4] + at.col * s.e[6];
        const float* from = s.b + (b * s.e[0] + o) * s.e[3] * s.e[2] + at.col;
        float sum = 0.f;
        for (std::int64_t i = 0; i < s.e[3]; ++i)
            if (index[i * s.e[5]] == own) sum += from[i * s.e[2]];
        return sum;
    }
};

} // namespace sinter::gpu
