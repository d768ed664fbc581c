// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <sinter/base/host_device.hpp>
#include <sinter/kernel/scalar_gamma.hpp>
#include <sinter/ops/detail/arithmetic.hpp>

namespace sinter::inline SINTER_TARGET {

namespace runtime {

SINTER_HOST_DEVICE float larger(float a, float b) { return a > b || a != a ? a : b; }
}

/// What elementwise ops are made of, on one number: what GPU kernels run, and what the host runs to
/// check them. Where a comparison meets NaN it decides as the vector forms do.
template <>
struct arithmetic<float> {
    static SINTER_HOST_DEVICE float exp(float a) { return ::expf(a); }
    static SINTER_HOST_DEVICE float near_exp2(float a) { return ::exp2f(a); }   // of -127 to 127
    static SINTER_HOST_DEVICE float expm1(float a) { return ::expm1f(a); }
    static SINTER_HOST_DEVICE float log(float a) { return ::logf(a); }
    static SINTER_HOST_DEVICE float log1p(float a) { return ::log1pf(a); }
    static SINTER_HOST_DEVICE float sqrt(float a) { return ::sqrtf(a); }
    static SINTER_HOST_DEVICE float tanh(float a) { return ::tanhf(a); }
    static SINTER_HOST_DEVICE float sigmoid(float a) { return 1.f / (1.f + ::expf(-a)); }
    static SINTER_HOST_DEVICE float softplus(float a) { return (a > 0.f ? a : 0.f) + ::log1pf(::expf(-::fabsf(a))); }
    static SINTER_HOST_DEVICE float erf(float a) { return ::erff(a); }
    static SINTER_HOST_DEVICE float erfc(float a) { return ::erfcf(a); }
    static SINTER_HOST_DEVICE float sin(float a) { return ::sinf(a); }
    static SINTER_HOST_DEVICE float cos(float a) { return ::cosf(a); }
    static SINTER_HOST_DEVICE float tan(float a) { return ::tanf(a); }
    static SINTER_HOST_DEVICE float asin(float a) { return ::asinf(a); }
    static SINTER_HOST_DEVICE float acos(float a) { return ::acosf(a); }
    static SINTER_HOST_DEVICE float atan(float a) { return ::atanf(a); }
    static SINTER_HOST_DEVICE float sinh(float a) { return ::sinhf(a); }
    static SINTER_HOST_DEVICE float cosh(float a) { return ::coshf(a); }
    static SINTER_HOST_DEVICE float asinh(float a) { return ::asinhf(a); }
    static SINTER_HOST_DEVICE float acosh(float a) { return ::acoshf(a); }
    static SINTER_HOST_DEVICE float atanh(float a) { return ::atanhf(a); }
    static SINTER_HOST_DEVICE float lgamma(float a) { return ::lgammaf(a); }
    static SINTER_HOST_DEVICE float digamma(float a) {
        return static_cast<float>(scalar_gamma::digamma(static_cast<double>(a)));
    }
    static SINTER_HOST_DEVICE float trigamma(float a) {
        return static_cast<float>(scalar_gamma::trigamma(static_cast<double>(a)));
    }
    static SINTER_HOST_DEVICE float atan2(float a, float b) { return ::atan2f(a, b); }
    static SINTER_HOST_DEVICE float pow(float a, float b) { return ::powf(a, b); }
    static SINTER_HOST_DEVICE float mod(float a, float b) {
        const float r = ::fmodf(a, b);
        return ::copysignf(::fabsf(r != 0.f && (r < 0.f) != (b < 0.f) ? r + b : r), b);
    }
    static SINTER_HOST_DEVICE float floor_div(float a, float b) {   // by the exact rest, not by a rounded quotient
        const float r = ::fmodf(a, b), q = ::rintf((a - r) / b);
        return b == 0.f ? a / b : r != 0.f && (r < 0.f) != (b < 0.f) ? q - 1.f : q;
    }
    static SINTER_HOST_DEVICE float subtract(float a,
                                             float b) {   // a is rounded first, never part of a fused multiply-add
#ifdef __CUDA_ARCH__
        return ::__fsub_rn(a, b);
#else
        asm("" : "+m"(a));
        return a - b;
#endif
    }
    static SINTER_HOST_DEVICE float abs(float a) { return ::fabsf(a); }
    static SINTER_HOST_DEVICE float floor(float a) { return ::floorf(a); }
    static SINTER_HOST_DEVICE float ceil(float a) { return ::ceilf(a); }
    static SINTER_HOST_DEVICE float round(float a) { return ::rintf(a); }   // half to even
    static SINTER_HOST_DEVICE float trunc(float a) { return ::truncf(a); }
    static SINTER_HOST_DEVICE float round_to_bfloat16(float a) {   // as the vector form (math/rounding.hpp)
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(a);
        const std::uint32_t near = bits + 0x7fffu + ((bits >> 16) & 1u), nan = bits | 0x00400000u;
        return std::bit_cast<float>((a == a ? near : nan) & 0xffff0000u);
    }
    static SINTER_HOST_DEVICE float max(float a, float b) { return a > b ? a : b; }
    static SINTER_HOST_DEVICE float min(float a, float b) { return a < b ? a : b; }
    static SINTER_HOST_DEVICE float relu(float a) { return a < 0.f ? 0.f : a; }
    static SINTER_HOST_DEVICE float select(bool condition, float yes, float no) { return condition ? yes : no; }
};

} // namespace sinter
