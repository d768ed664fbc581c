// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/math.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>
#include <sinter/ops/detail/arithmetic.hpp>

namespace sinter::inline SINTER_TARGET {

/// What elementwise ops are made of, on a whole vector.
template <>
struct arithmetic<cpu::vf> {
    using vf = cpu::vf;
    static SINTER_INLINE vf exp(vf a) { return cpu::exp(a); }
    static SINTER_INLINE vf near_exp2(vf a) { return cpu::near_exp2(a); }
    static SINTER_INLINE vf expm1(vf a) { return cpu::expm1(a); }
    static SINTER_INLINE vf log(vf a) { return cpu::log(a); }
    static SINTER_INLINE vf log1p(vf a) { return cpu::log1p(a); }
    static SINTER_INLINE vf sqrt(vf a) { return cpu::sqrt(a); }
    static SINTER_INLINE vf tanh(vf a) { return cpu::tanh(a); }
    static SINTER_INLINE vf sigmoid(vf a) { return cpu::sigmoid(a); }
    static SINTER_INLINE vf softplus(vf a) { return cpu::softplus(a); }
    static SINTER_INLINE vf erf(vf a) { return cpu::erf(a); }
    static SINTER_INLINE vf erfc(vf a) { return cpu::erfc(a); }
    static SINTER_INLINE vf sin(vf a) { return cpu::sin(a); }
    static SINTER_INLINE vf cos(vf a) { return cpu::cos(a); }
    static SINTER_INLINE vf tan(vf a) { return cpu::tan(a); }
    static SINTER_INLINE vf asin(vf a) { return cpu::asin(a); }
    static SINTER_INLINE vf acos(vf a) { return cpu::acos(a); }
    static SINTER_INLINE vf atan(vf a) { return cpu::atan(a); }
    static SINTER_INLINE vf sinh(vf a) { return cpu::sinh(a); }
    static SINTER_INLINE vf cosh(vf a) { return cpu::cosh(a); }
    static SINTER_INLINE vf asinh(vf a) { return cpu::asinh(a); }
    static SINTER_INLINE vf acosh(vf a) { return cpu::acosh(a); }
    static SINTER_INLINE vf atanh(vf a) { return cpu::atanh(a); }
    static SINTER_INLINE vf lgamma(vf a) { return cpu::lgamma(a); }
    static SINTER_INLINE vf digamma(vf a) { return cpu::digamma(a); }
    static SINTER_INLINE vf trigamma(vf a) { return cpu::trigamma(a); }
    static SINTER_INLINE vf atan2(vf a, vf b) { return cpu::atan2(a, b); }
    static SINTER_INLINE vf pow(vf a, vf b) { return cpu::pow(a, b); }
    static SINTER_INLINE vf mod(vf a, vf b) { return cpu::mod(a, b); }
    static SINTER_INLINE vf floor_div(vf a, vf b) { return cpu::floor_div(a, b); }
    /// a - b, never as part of a fused multiply-add: a is rounded first.
    static SINTER_INLINE vf subtract(vf a, vf b) {
#if defined(__AVX512F__)
        asm("" : "+v"(a));
#elif defined(__x86_64__)
        asm("" : "+x"(a));
#else
        asm("" : "+m"(a));
#endif
        return a - b;
    }
    static SINTER_INLINE vf abs(vf a) { return cpu::absolute(a); }
    static SINTER_INLINE vf floor(vf a) { return cpu::floor(a); }
    static SINTER_INLINE vf ceil(vf a) { return cpu::ceil(a); }
    static SINTER_INLINE vf round(vf a) { return cpu::round(a); }
    static SINTER_INLINE vf trunc(vf a) { return cpu::trunc(a); }
    static SINTER_INLINE vf round_to_bfloat16(vf a) { return cpu::round_to_bfloat16(a); }
    /// The second operand where either is NaN.
    static SINTER_INLINE vf max(vf a, vf b) { return cpu::max(a, b); }
    static SINTER_INLINE vf min(vf a, vf b) { return cpu::min(a, b); }
    static SINTER_INLINE vf relu(vf a) { return cpu::max(cpu::zero(), a); }
    /// `yes` where a comparison holds.
    static SINTER_INLINE vf select(cpu::vi mask, vf yes, vf no) { return cpu::select(mask, yes, no); }
};

} // namespace sinter
