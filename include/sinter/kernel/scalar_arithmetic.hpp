// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cmath>
#include <sinter/kernel/host_device.hpp>
#include <sinter/ops/detail/arithmetic.hpp>

namespace sinter {

/// What elementwise ops are made of, on one number: what GPU kernels run, and what the host runs to check them. Where a
/// comparison meets NaN it decides as the vector forms do.
template <>
struct arithmetic<float> {
    static SINTER_HOST_DEVICE float exp(float a) { return ::expf(a); }
    static SINTER_HOST_DEVICE float expm1(float a) { return ::expm1f(a); }
    static SINTER_HOST_DEVICE float log(float a) { return ::logf(a); }
    static SINTER_HOST_DEVICE float log1p(float a) { return ::log1pf(a); }
    static SINTER_HOST_DEVICE float sqrt(float a) { return ::sqrtf(a); }
    static SINTER_HOST_DEVICE float tanh(float a) { return ::tanhf(a); }
    static SINTER_HOST_DEVICE float sigmoid(float a) { return 1.f / (1.f + ::expf(-a)); }
    static SINTER_HOST_DEVICE float softplus(float a) { return (a > 0.f ? a : 0.f) + ::log1pf(::expf(-::fabsf(a))); }
    static SINTER_HOST_DEVICE float erf(float a) { return ::erff(a); }
    static SINTER_HOST_DEVICE float abs(float a) { return ::fabsf(a); }
    static SINTER_HOST_DEVICE float floor(float a) { return ::floorf(a); }
    static SINTER_HOST_DEVICE float ceil(float a) { return ::ceilf(a); }
    static SINTER_HOST_DEVICE float round(float a) { return ::rintf(a); }   // half to even
    static SINTER_HOST_DEVICE float trunc(float a) { return ::truncf(a); }
    static SINTER_HOST_DEVICE float max(float a, float b) { return a > b ? a : b; }
    static SINTER_HOST_DEVICE float min(float a, float b) { return a < b ? a : b; }
    static SINTER_HOST_DEVICE float relu(float a) { return a < 0.f ? 0.f : a; }
    static SINTER_HOST_DEVICE float select(bool condition, float yes, float no) { return condition ? yes : no; }
};

} // namespace sinter
