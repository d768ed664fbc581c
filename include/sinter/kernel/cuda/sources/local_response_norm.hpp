// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/local_response_norm.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// Rows of channels.
struct response_source : plain_source {
    static constexpr walk_extents walk(std::int64_t m, const std::int64_t* e) {
        return {m, e[response_extent::channels]};
    }

protected:
    static SINTER_HOST_DEVICE float number(const source_call& s, int i) {
        return source_call::float_of(static_cast<std::int32_t>(s.e[i]));
    }
    /// Channels within the row.
    static SINTER_HOST_DEVICE int first(int channel) { return channel < 0 ? 0 : channel; }
    static SINTER_HOST_DEVICE int end(const source_call& s, int channel) {
        return channel < s.e[response_extent::channels] ? channel + 1
                                                        : static_cast<int>(s.e[response_extent::channels]);
    }
    /// k + alpha / size * the sum of the squares around a channel of the row x.
    static SINTER_HOST_DEVICE float sum(const source_call& s, const float* x, int channel) {
        float squares = 0.f;
        for (int i = first(channel - s.x[response_fixed::before]); i < end(s, channel + s.x[response_fixed::behind]);
             ++i)
            squares += x[i] * x[i];
        return squares * number(s, response_extent::scale) + number(s, response_extent::k);
    }
    static SINTER_HOST_DEVICE float power(const source_call& s, float sum) {
        return arithmetic<float>::exp(arithmetic<float>::log(sum) * -number(s, response_extent::beta));
    }
};
/// a = x.
template <>
struct source<static_cast<int>(op::local_response_norm.id)> : response_source {
    static constexpr int operands = 1;
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        return s.a[at.off] * power(s, sum(s, s.a + at.row * s.e[response_extent::channels], at.col));
    }
};
/// a = gradient, b = x.
template <>
struct source<static_cast<int>(op::local_response_norm_gradient.id)> : response_source {
    static constexpr int operands = 2;
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const float *const d = s.a + at.row * s.e[response_extent::channels], *const x =
                                                                                  s.b +
                                                                                  at.row *
                                                                                      s.e[response_extent::channels];
        // Of large x power / around is below all floats: it is summed a power of two larger.
        const float larger = number(s, response_extent::k) > 0x1p-30f ? 0x1p60f : 1.f;
        float spread = 0.f;
        for (int i = first(at.col - s.x[response_fixed::behind]); i < end(s, at.col + s.x[response_fixed::before]);
             ++i) {   // the windows that hold this channel
            const float around = sum(s, x, i);
            spread += d[i] * power(s, around) * (x[i] / around * larger);
        }
        return d[at.col] * power(s, sum(s, x, at.col)) -
               x[at.col] / larger * spread *
                   (2.f * number(s, response_extent::scale) * number(s, response_extent::beta));
    }
};

} // namespace sinter::gpu
