// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/detail/interpolation_axis.hpp>
#include <sinter/ops/interpolate.hpp>

/// Lines with another number of places, and the sums back at the old ones.
namespace sinter::inline SINTER_TARGET::gpu {

template <>
struct source<static_cast<int>(op::interpolate.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[interpolate_extent::to], e[interpolate_extent::inner]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const interpolation_axis a(s.e);
        const auto p = a.at(at.row % a.to);
        const float* line = s.a + at.row / a.to * a.from * s.e[interpolate_extent::inner] + at.col;
        return p.share * line[p.next * s.e[interpolate_extent::inner]] +
               (1.f - p.share) * line[p.first * s.e[interpolate_extent::inner]];
    }
};
template <>
struct source<static_cast<int>(op::interpolate_gradient.id)> : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m * e[interpolate_extent::from], e[interpolate_extent::inner]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const interpolation_axis a(s.e);
        const std::int64_t i = at.row % a.from, end = a.first_of(i + 2);
        const float* line = s.a + at.row / a.from * a.to * s.e[interpolate_extent::inner] + at.col;
        float sum = 0.f;
        for (std::int64_t k = a.first_of(i); k < end; ++k)
            sum += a.at(k).of(i) * line[k * s.e[interpolate_extent::inner]];
        return sum;
    }
};

} // namespace sinter::gpu
