// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/local_response_norm.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// Rows of e[0] channels, e = {channels, bits of alpha / size, beta, k}, x = {channels before, behind}.
struct response_source : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) { return {m, e[0]}; }

protected:
    static SINTER_HOST_DEVICE float number(const source_call& s, int i) {
        return source_call::float_of(static_cast<std::int32_t>(s.e[i]));
    }
    /// Channels within the row.
    static SINTER_HOST_DEVICE int first(int channel) { return channel < 0 ? 0 : channel; }
    static SINTER_HOST_DEVICE int end(const source_call& s, int channel) {
        return channel < s.e[0] ? channel + 1 : static_cast<int>(s.e[0]);
    }
    /// k + alpha / size * the sum of the squares around a channel of the row x.
    static SINTER_HOST_DEVICE float sum(const source_call& s, const float* x, int channel) {
        float squares = 0.f;
        for (int i = first(channel - s.x[0]); i < end(s, channel + s.x[1]); ++i) squares += x[i] * x[i];
        return squares * number(s, 1) + number(s, 3);
    }
    static SINTER_HOST_DEVICE float power(const source_call& s, float sum) {
        return arithmetic<float>::exp(arithmetic<float>::log(sum) * -number(s, 2));
    }
};
/// a = x.
template <>
struct source<static_cast<int>(op::local_response_norm.id)> : response_source {
    static constexpr int operands = 1;
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return s.a[at.off] * power(s, sum(s, s.a + at.row * s.e[0], at.col));
    }
};
/// a = gradient, b = x.
template <>
struct source<static_cast<int>(op::local_response_norm_gradient.id)> : response_source {
    static constexpr int operands = 2;
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const float *const d = s.a + at.row * s.e[0], *const x = s.b + at.row * s.e[0];
        float spread = 0.f;
        for (int i = first(at.col - s.x[1]); i < end(s, at.col + s.x[0]); ++i) {   // the windows that hold this channel
            const float around = sum(s, x, i);
            spread += d[i] * x[i] * power(s, around) / around;
        }
        return d[at.col] * power(s, sum(s, x, at.col)) - x[at.col] * spread * (2.f * number(s, 1) * number(s, 2));
    }
};

} // namespace sinter::gpu
