// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/graph/number.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/random_uniform.hpp>

namespace sinter::inline SINTER_TARGET {

/// dropout<0.2f>: in training each element is zero with this probability and else divided by the
/// rest (Srivastava et al. 2014, in its inverted form); elsewhere it does nothing.
template <number Rate>
struct dropout_layer : plain_layer<dropout_layer<Rate>> {
    static_assert(Rate.value >= 0.f && Rate.value < 1.f, "dropout: the rate must be at least 0 and below 1");
    static constexpr tensor trace(tensor x) {
        if (!x.g->trains("dropout") || Rate.value == 0.f) return x;
        const tensor u = ops::random_uniform(x);
        const tensor alive = ops::binary<op::greater>(constant(x.g, 1.f - Rate.value), u);
        return x * (alive * (1.f / (1.f - Rate.value)));
    }
};
template <number Rate>
inline constexpr dropout_layer<Rate> dropout{};

} // namespace sinter
