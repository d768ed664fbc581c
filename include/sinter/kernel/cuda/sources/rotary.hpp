// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/rotary.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// a = x, b = cosines and sines [2][T][n]; e = {T, heads, n}; m rows of 2 n elements; x = {halves?, backwards?}.
template <>
struct source<static_cast<int>(op::rotary.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, 2 * e[2]}; }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const std::int64_t n = s.e[2], i = s.x[0] ? at.col % n : at.col / 2, other = s.x[0] ? (at.col + n) % (2 * n) : at.col ^ 1;
        const bool first = s.x[0] ? at.col < n : at.col % 2 == 0;
        const float* const cosine = s.b + (at.row / s.e[1] % s.e[0] * n + i);
        const float sine = first == static_cast<bool>(s.x[1]) ? cosine[s.e[0] * n] : -cosine[s.e[0] * n];
        const float* const row = s.a + at.row * 2 * n;
        return row[at.col] * *cosine + row[other] * sine;
    }
};

} // namespace sinter::gpu
