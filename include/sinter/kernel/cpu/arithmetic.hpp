// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math.hpp>
#include <sinter/kernel/cpu/simd.hpp>
#include <sinter/ops/detail/arithmetic.hpp>

namespace sinter {

/// What elementwise ops are made of, on a whole vector.
template <>
struct arithmetic<cpu::vf> {
    using vf = cpu::vf;
    static SINTER_INLINE vf exp(vf a) { return cpu::exp(a); }
    static SINTER_INLINE vf log(vf a) { return cpu::log(a); }
    static SINTER_INLINE vf sqrt(vf a) { return cpu::sqrt(a); }
    static SINTER_INLINE vf tanh(vf a) { return cpu::tanh(a); }
    static SINTER_INLINE vf sigmoid(vf a) { return cpu::sigmoid(a); }
    static SINTER_INLINE vf erf(vf a) { return cpu::erf(a); }
    static SINTER_INLINE vf max(vf a, vf b) { return cpu::max(a, b); }
    static SINTER_INLINE vf min(vf a, vf b) { return cpu::min(a, b); }
    static SINTER_INLINE vf relu(vf a) { return cpu::max(a, cpu::zero()); }
    static SINTER_INLINE vf where_positive(vf y, vf d) { return cpu::select(y > cpu::zero(), d, cpu::zero()); }
    static SINTER_INLINE vf equal(vf a, vf b) { return cpu::select(a == b, cpu::splat(1.f), cpu::zero()); }
    static SINTER_INLINE vf greater(vf a, vf b) { return cpu::select(a > b, cpu::splat(1.f), cpu::zero()); }
};

} // namespace sinter
