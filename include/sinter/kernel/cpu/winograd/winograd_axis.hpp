// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/simd.hpp>

/// The transforms of Winograd's minimal filtering along one axis, of vectors.
namespace sinter::inline SINTER_TARGET::cpu {

/// Patches of so many places along the axis, whose values are taken at the points 0, 1, -1 and
/// infinity, for 6 also at 2 and -2. Windows of all sizes share them.
template <int Size>
struct winograd_points;

template <>
struct winograd_points<4> {
    static constexpr int size = 4;
    static SINTER_INLINE void patch(const vf* d, vf* v) { put(v, d[0] - d[2], d[2], d[1], d[1] - d[3]); }

protected:
    /// At 1 and -1 from the sums of even and of odd powers there.
    static SINTER_INLINE void put(vf* v, vf at_0, vf even, vf odd, vf at_infinity) {
        v[0] = at_0;
        v[1] = even + odd;
        v[2] = even - odd;
        v[3] = at_infinity;
    }
};

template <>
struct winograd_points<6> {
    static constexpr int size = 6;
    static SINTER_INLINE void patch(const vf* d, vf* v) {
        put(v, d[0] * 4.f + (d[4] - d[2] * 5.f), d[4] - d[2] * 4.f, d[3] - d[1] * 4.f, d[4] - d[2], (d[3] - d[1]) * 2.f,
            d[1] * 4.f + (d[5] - d[3] * 5.f));
    }

protected:
    /// At 1 and -1, and at 2 and -2, from the sums of even and of odd powers there.
    static SINTER_INLINE void put(vf* v, vf at_0, vf even_1, vf odd_1, vf even_2, vf odd_2, vf at_infinity) {
        v[0] = at_0;
        v[1] = even_1 + odd_1;
        v[2] = even_1 - odd_1;
        v[3] = even_2 + odd_2;
        v[4] = even_2 - odd_2;
        v[5] = at_infinity;
    }
};

/// Of M outputs by K taps: transforms of the window, of products back to outputs; and their
/// adjoints, which the window's gradient takes.
template <int M, int K>
struct winograd_axis;

template <>
struct winograd_axis<2, 3> : winograd_points<4> {
    static SINTER_INLINE void window(const vf* g, vf* u) {
        put(u, g[0], (g[0] + g[2]) * 0.5f, g[1] * 0.5f, g[2]);
    }
    static SINTER_INLINE void outputs(const vf* m, vf* y) {
        y[0] = m[0] + (m[1] + m[2]);
        y[1] = m[1] - m[2] - m[3];
    }
    static SINTER_INLINE void outputs_adjoint(const vf* y, vf* m) { put(m, y[0], y[0], y[1], zero() - y[1]); }
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
        put(u, g[0] * 0.25f, (g[0] + g[2]) * (-1.f / 6), g[1] * (-1.f / 6), g[0] * (1.f / 24) + g[2] * (1.f / 6),
            g[1] * (1.f / 12), g[2]);
    }
    static SINTER_INLINE void outputs(const vf* m, vf* y) {
        const vf a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
        y[0] = m[0] + a + c;
        y[1] = b + d * 2.f;
        y[2] = a + c * 4.f;
        y[3] = b + d * 8.f + m[5];
    }
    static SINTER_INLINE void outputs_adjoint(const vf* y, vf* m) {
        put(m, y[0], y[0] + y[2], y[1] + y[3], y[0] + y[2] * 4.f, y[1] * 2.f + y[3] * 8.f, y[3]);
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
        put(u, g[0] * 0.25f, (g[0] + g[2] + g[4]) * (-1.f / 6), (g[1] + g[3]) * (-1.f / 6),
            g[0] * (1.f / 24) + g[2] * (1.f / 6) + g[4] * (2.f / 3), g[1] * (1.f / 12) + g[3] * (1.f / 3), g[4]);
    }
    static SINTER_INLINE void outputs(const vf* m, vf* y) {
        y[0] = m[0] + (m[1] + m[2]) + (m[3] + m[4]);
        y[1] = m[1] - m[2] + (m[3] - m[4]) * 2.f + m[5];
    }
    static SINTER_INLINE void outputs_adjoint(const vf* y, vf* m) {
        put(m, y[0], y[0], y[1], y[0], y[1] * 2.f, y[1]);
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
