// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/roll.hpp>
#include <cstring>

namespace sinter::inline SINTER_TARGET::cpu {

/// Each of c.m rows rotated forward.
struct rotation {
    static void run(const call& c) {
        const std::int64_t n = c.e[roll_extent::elements], shift = c.e[roll_extent::distance];
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i) {
            std::memcpy(c.p[copy_operand::to] + i * n + shift, c.p[copy_operand::from] + i * n,
                        4 * static_cast<std::size_t>(n - shift));
            std::memcpy(c.p[copy_operand::to] + i * n, c.p[copy_operand::from] + i * n + n - shift,
                        4 * static_cast<std::size_t>(shift));
        }
    }
};

template <class Body, int... X>
struct nest<op::roll, Body, X...> { using type = rotation; };

} // namespace sinter::cpu
