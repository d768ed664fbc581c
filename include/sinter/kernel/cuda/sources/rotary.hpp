// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/rotary.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// a = x, b = cosines and sines [2][places][pairs]; m rows of two elements a pair.
template <>
struct source<static_cast<int>(op::rotary.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m, 2 * e[rotary_extent::pairs]};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const bool halves = s.x[rotary_fixed::halves], backwards = s.x[rotary_fixed::backwards];
        const std::int64_t n = s.e[rotary_extent::pairs], places = s.e[rotary_extent::places];
        const std::int64_t i = halves ? at.col % n : at.col / 2, other = halves ? (at.col + n) % (2 * n) : at.col ^ 1;
        const bool first = halves ? at.col < n : at.col % 2 == 0;
        const float* const cosine = s.b + (at.row / s.e[rotary_extent::heads] % places * n + i);
        const float sine = first == backwards ? cosine[places * n] : -cosine[places * n];
        const float* const row = s.a + at.row * 2 * n;
        return row[at.col] * *cosine + row[other] * sine;
    }
};

} // namespace sinter::gpu
