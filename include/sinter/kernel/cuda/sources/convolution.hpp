// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/source.hpp>
#include <sinter/ops/convolution.hpp>

/// Convolutions of any window and any number of groups, element by element; e as
/// ops/convolution.hpp writes it.
namespace sinter::inline SINTER_TARGET::gpu {

/// f(offset of the pixel in the other image, tap) for all taps through which element `at` of a walk
/// over pixels meets that image's pixels. Forward: at is a result's pixel, the other image is x;
/// else the other way round.
template <bool Forward, class F>
SINTER_HOST_DEVICE void each_tap(const convolution_extents& c, std::int64_t at, F f) {
    int place[3];
    for (int i = 2; i >= 0; --i) {
        const int n = Forward ? c.axis[i].out : c.axis[i].extent;
        place[i] = static_cast<int>(at % n);
        at /= n;
    }
    for (int tap = 0; tap < c.taps(); ++tap) {
        const int t[3] = {tap / c.axis[2].k / c.axis[1].k, tap / c.axis[2].k % c.axis[1].k, tap % c.axis[2].k};
        std::int64_t to = at;
        bool inside = true;
        for (int i = 0; i < 3; ++i) {
            const sliding& a = c.axis[i];
            int q =
                Forward ? place[i] * a.stride - a.before + t[i] * a.dilation : place[i] + a.before - t[i] * a.dilation;
            if (!Forward) {
                inside = inside && q >= 0 && q % a.stride == 0;
                q /= a.stride;
            }
            const int n = Forward ? a.extent : a.out;
            inside = inside && q >= 0 && q < n;
            to = to * n + q;
        }
        if (inside) f(to, tap);
    }
}

/// a = x, b = weights [taps][CI / groups][CO].
template <>
struct source<static_cast<int>(op::convolution.id)> : plain_source {
    static constexpr int operands = 2;
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const convolution_extents c(s.e);
        const int inputs = c.group_inputs(), group = at.col / c.group_outputs();
        float sum = 0.f;
        each_tap<true>(c, at.row, [&](std::int64_t pixel, int tap) {
            const float* x = s.a + pixel * c.inputs + group * inputs;
            const float* w = s.b + std::int64_t{tap} * inputs * c.outputs + at.col;
            for (int i = 0; i < inputs; ++i) sum += x[i] * w[std::int64_t{i} * c.outputs];
        });
        return sum;
    }
};
/// a = dy, b = weights.
template <>
struct source<static_cast<int>(op::convolution_input_gradient.id)> : plain_source {
    static constexpr int operands = 2;
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const convolution_extents c(s.e);
        const int inputs = c.group_inputs(), outputs = c.group_outputs(), first = at.col / inputs * outputs;
        float sum = 0.f;
        each_tap<false>(c, at.row, [&](std::int64_t pixel, int tap) {
            const float* d = s.a + pixel * c.outputs + first;
            const float* w = s.b + (std::int64_t{tap} * inputs + at.col % inputs) * c.outputs + first;
            for (int o = 0; o < outputs; ++o) sum += d[o] * w[o];
        });
        return sum;
    }
};
/// a = x, b = dy; m images.
template <>
struct source<static_cast<int>(op::convolution_weight_gradient.id)> : plain_source {
    static constexpr int operands = 2;
    static constexpr walk_extents walk(std::int64_t, const std::int64_t* e) {
        const convolution_extents c(e);
        return {c.depth(), c.outputs};
    }
    static SINTER_HOST_DEVICE float value(const source_call& s, const place& at) {
        const convolution_extents c(s.e);
        const sliding &z = c.axis[0], &y = c.axis[1], &x = c.axis[2];
        const int inputs = c.group_inputs(), tap = static_cast<int>(at.row / inputs);
        const int channel = at.col / c.group_outputs() * inputs + static_cast<int>(at.row % inputs);
        const int dz = tap / x.k / y.k * z.dilation - z.before, dy = tap / x.k % y.k * y.dilation - y.before,
                  dx = tap % x.k * x.dilation - x.before;
        float sum = 0.f;
        for (std::int64_t n = 0; n < s.m; ++n) {
            float own = 0.f;   // by images: shorter chains of roundings
            for (int oz = 0; oz < z.out; ++oz)
                for (int oy = 0; oy < y.out; ++oy)
                    for (int ox = 0; ox < x.out; ++ox) {
                        const int iz = oz * z.stride + dz, iy = oy * y.stride + dy, ix = ox * x.stride + dx;
                        if (iz < 0 || iy < 0 || ix < 0 || iz >= z.extent || iy >= y.extent || ix >= x.extent) continue;
                        own += s.a[(((n * z.extent + iz) * y.extent + iy) * x.extent + ix) * c.inputs + channel] *
                               s.b[(((n * z.out + oz) * y.out + oy) * x.out + ox) * c.outputs + at.col];
                    }
            sum += own;
        }
        return sum;
    }
};

} // namespace sinter::gpu
