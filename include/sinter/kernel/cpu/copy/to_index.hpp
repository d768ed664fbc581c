// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/to_index.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// c.m floats as int32 in [0, below). Comparisons come first: a float beyond int32 must not be
/// converted.
struct to_index {
    static void run(const call& c) {
        const auto most = static_cast<std::int32_t>(c.e[to_index_extent::below] - 1);
        auto* to = reinterpret_cast<std::int32_t*>(c.p[copy_operand::to]);
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i) {
            const float x = c.p[copy_operand::from][i];
            to[i] = !(x > 0.f) ? 0 : x >= static_cast<float>(most) ? most : static_cast<std::int32_t>(x);
        }
    }
};

template <class Body, int... X>
struct nest<op::to_index, Body, X...> { using type = to_index; };

} // namespace sinter::cpu
