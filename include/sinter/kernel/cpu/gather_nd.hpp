// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/ordering.hpp>
#include <sinter/ops/gather_nd.hpp>

namespace sinter::cpu {

/// p[0] = [m][e0] places in extents e1, ...
struct place_index {
    static void run(const call& c) {
        const auto* from = reinterpret_cast<const std::int32_t*>(c.p[0]);
        auto* to = reinterpret_cast<std::int32_t*>(c.p[1]);
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i) to[i] = place_number(from + i * c.e[0], c.e + 1, c.e[0]);
    }
};

template <class Body, int... X>
struct nest<op::place_index, Body, X...> { using type = place_index; };

} // namespace sinter::cpu
