// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/math/log.hpp>

namespace sinter::cpu {

struct whole_softplus {
    static SINTER_INLINE vf far(vf x) { return max(x, zero()) + log1p(whole_exp::far(-absolute(x))); }
};
/// log(1 + e^x) within 2.5 ULP, also in its tails: x far above, e^x far below zero. As t = e^-|x| is at most 1, 1 + t is
/// either near 1 or twice something that is.
SINTER_INLINE vf softplus(vf x) {
    const vf t = near_exp(-absolute(x));
    const vi second = t > splat(0.41421357f);
    const vf y = log_of(select(second, splat(1.f), zero()), select(second, fma(t, splat(0.5f), splat(-0.5f)), t));
    return with_far<whole_softplus>(x, beyond_exp(x), max(x, zero()) + y);
}

} // namespace sinter::cpu
