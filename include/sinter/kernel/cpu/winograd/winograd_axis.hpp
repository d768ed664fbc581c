// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/simd.hpp>

/// The transforms of Winograd's minimal filtering along one axis, of vectors.
namespace sinter::cpu {

/// A patch of so many places along the axis: its values where the points are 0, 1, -1 and infinity, for 6 also 2 and -2. Windows of all
/// sizes share it.
template <int Size>
struct winograd_points;

template <>
struct winograd_points<4> {
    static constexpr int size = 4;
    static SINTER_INLINE void patch(const vf* d, vf* v) {
        v[0] = d[0] - d[2];
        v[1] = d[1] + d[2];
        v[2] = d[2] - d[1];
        v[3] = d[1] - d[3];
    }
};

template <>
struct winograd_points<6> {
    static constexpr int size = 6;
    static SINTER_INLINE void patch(const vf* d, vf* v) {
        const vf a = d[4] - d[2] * 4.f, b = d[3] - d[1] * 4.f, e = d[4] - d[2], f = (d[3] - d[1]) * 2.f;
        v[0] = d[0] * 4.f + (d[4] - d[2] * 5.f);
        v[1] = a + b;
        v[2] = a - b;
        v[3] = e + f;
        v[4] = e - f;
        v[5] = d[1] * 4.f + (d[5] - d[3] * 5.f);
    }
};

/// Of M outputs by K taps: transforms of the window, of products back to outputs; and their adjoints, which the window's gradient takes.
template <int M, int K>
struct winograd_axis;

template <>
struct winograd_axis<2, 3> : winograd_points<4> {
    static SINTER_INLINE void window(const vf* g, vf* u) {
        const vf s = (g[0] + g[2]) * 0.5f, h = g[1] * 0.5f;
        u[0] = g[0];
        u[1] = s + h;
        u[2] = s - h;
        u[3] = g[2];
    }
    static SINTER_INLINE void outputs(const vf* m, vf* y) {
        y[0] = m[0] + (m[1] + m[2]);
        y[1] = m[1] - m[2] - m[3];
    }
    static SINTER_INLINE void outputs_adjoint(const vf* y, vf* m) {
        m[0] = y[0];
        m[1] = y[0] + y[1];
        m[2] = y[0] - y[1];
        m[3] = zero() - y[1];
    }
    static SINTER_INLINE void window_adjoint(const vf* u, vf* g) {
        const vf s = (u[1] + u[2]) * 0.5f;
        g[0] = u[0] + s;
        g[1] = (u[1] - u[2]) * 0.5f;
        g[2] = s + u[3];
    }
};

template <>
struct winograd_axis<4, 3> : winograd_points<6> {
    static SINTER_INLINE void window(const vf* g, vf* u) {
        const vf s = (g[0] + g[2]) * (-1.f / 6), h = g[1] * (1.f / 6);
        const vf p = g[0] * (1.f / 24) + g[2] * (1.f / 6), q = g[1] * (1.f / 12);
        u[0] = g[0] * 0.25f;
        u[1] = s - h;
        u[2] = s + h;
        u[3] = p + q;
        u[4] = p - q;
        u[5] = g[2];
    }
    static SINTER_INLINE void outputs(const vf* m, vf* y) {
        const vf a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
        y[0] = m[0] + a + c;
        y[1] = b + d * 2.f;
        y[2] = a + c * 4.f;
        y[3] = b + d * 8.f + m[5];
    }
    static SINTER_INLINE void outputs_adjoint(const vf* y, vf* m) {
        const vf a = y[0] + y[2], b = y[1] + y[3], c = y[0] + y[2] * 4.f, d = y[1] * 2.f + y[3] * 8.f;
        m[0] = y[0];
        m[1] = a + b;
        m[2] = a - b;
        m[3] = c + d;
        m[4] = c - d;
        m[5] = y[3];
    }
    static SINTER_INLINE void window_adjoint(const vf* u, vf* g) {
        const vf a = (u[1] + u[2]) * (-1.f / 6), b = u[3] + u[4];
        g[0] = u[0] * 0.25f + a + b * (1.f / 24);
        g[1] = (u[2] - u[1]) * (1.f / 6) + (u[3] - u[4]) * (1.f / 12);
        g[2] = a + b * (1.f / 6) + u[5];
    }
};

/// The same points.
template <>
struct winograd_axis<2, 5> : winograd_points<6> {
    static SINTER_INLINE void window(const vf* g, vf* u) {
        const vf s = (g[0] + g[2] + g[4]) * (-1.f / 6), h = (g[1] + g[3]) * (1.f / 6);
        const vf p = g[0] * (1.f / 24) + g[2] * (1.f / 6) + g[4] * (2.f / 3), q = g[1] * (1.f / 12) + g[3] * (1.f / 3);
        u[0] = g[0] * 0.25f;
        u[1] = s - h;
        u[2] = s + h;
        u[3] = p + q;
        u[4] = p - q;
        u[5] = g[4];
    }
    static SINTER_INLINE void outputs(const vf* m, vf* y) {
        y[0] = m[0] + (m[1] + m[2]) + (m[3] + m[4]);
        y[1] = m[1] - m[2] + (m[3] - m[4]) * 2.f + m[5];
    }
    static SINTER_INLINE void outputs_adjoint(const vf* y, vf* m) {
        const vf twice = y[1] * 2.f;
        m[0] = y[0];
        m[1] = y[0] + y[1];
        m[2] = y[0] - y[1];
        m[3] = y[0] + twice;
        m[4] = y[0] - twice;
        m[5] = y[1];
    }
    static SINTER_INLINE void window_adjoint(const vf* u, vf* g) {
        const vf a = (u[1] + u[2]) * (-1.f / 6), b = u[3] + u[4], h = (u[2] - u[1]) * (1.f / 6), d = u[3] - u[4];
        g[0] = u[0] * 0.25f + a + b * (1.f / 24);
        g[1] = h + d * (1.f / 12);
        g[2] = a + b * (1.f / 6);
        g[3] = h + d * (1.f / 3);
        g[4] = a + b * (2.f / 3) + u[5];
    }
};

} // namespace sinter::cpu
