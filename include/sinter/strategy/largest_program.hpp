// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/step_bytes.hpp>
#include <sinter/compiler/plan/memory.hpp>
#include <initializer_list>
#include <utility>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Of a model's training programs, which share a replica's memory: what the one needs that needs
/// most. `n`: the sequence of their numbers.
template <class Programs>
struct largest_program {
    using device = typename Programs::device;
    template <int I>
    using training = typename Programs::template training<I>;

    template <class P>
    static constexpr int ports_of() {
        return P::v.n_inputs + P::v.n_targets + 1;
    }
    static constexpr std::int64_t most(std::initializer_list<std::int64_t> x) {
        std::int64_t n = 0;
        for (const std::int64_t v : x) n = v > n ? v : n;
        return n;
    }
    template <int... I>
    static constexpr int ports(std::integer_sequence<int, I...>) {
        return static_cast<int>(most({ports_of<training<I>>()...}));
    }
    /// Whether steps are accumulated.
    template <int... I>
    static constexpr bool accumulates(std::integer_sequence<int, I...>) {
        return ((training<I>::v.n_buckets > 0 && training<I>::v.buckets[0].every > 1) || ...);
    }
    template <int... I>
    static constexpr std::int64_t floats(compiler::space s, std::integer_sequence<int, I...>) {
        return most({training<I>::v.floats(s)...});
    }
    template <int... I>
    static constexpr std::int64_t scratch(std::integer_sequence<int, I...>) {
        return most({device::template runner<training<I>>::scratch_floats()...});
    }
    /// Each has gradients of its own.
    template <int... I>
    static constexpr std::int64_t bytes(std::integer_sequence<int, I...> n) {
        std::int64_t more = scratch(n) - device::template runner<training<0>>::scratch_floats();
        more += floats(compiler::space::activation, n) - training<0>::v.floats(compiler::space::activation);
        more += (training<I>::v.floats(compiler::space::gradient) + ...) -
                training<0>::v.floats(compiler::space::gradient);
        return runtime::step_bytes<training<0>, device>() + 4 * more;
    }
};

} // namespace sinter::strategy_parts
