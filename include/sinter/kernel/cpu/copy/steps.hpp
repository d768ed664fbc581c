// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/detail/steps.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// [batch][T][n] to [T][batch][n], or back. c.m = T * batch rows of n floats.
template <bool ToSteps>
struct exchange_batch_and_time {
    static void run(const call& c) {
        const std::int64_t n = c.e[steps_extent::width], steps = c.e[steps_extent::steps];
        const std::int64_t inner = ToSteps ? c.batch : steps, outer = ToSteps ? steps : c.batch;
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t r = share(c.m, c.part, c.parts); r < end; ++r)
            std::memcpy(c.p[copy_operand::to] + r * n, c.p[copy_operand::from] + (r % inner * outer + r / inner) * n,
                        4 * static_cast<std::size_t>(n));
    }
};

template <class Body, int... X>
struct nest<op::to_steps, Body, X...> { using type = exchange_batch_and_time<true>; };
template <class Body, int... X>
struct nest<op::from_steps, Body, X...> { using type = exchange_batch_and_time<false>; };

} // namespace sinter::cpu
