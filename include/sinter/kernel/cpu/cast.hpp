// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/ordering.hpp>
#include <sinter/ops/cast.hpp>

namespace sinter::cpu {

struct to_int {
    static void run(const call& c) {
        auto* to = reinterpret_cast<std::int32_t*>(c.p[1]);
        for (std::int64_t i = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts); i < end; ++i)
            to[i] = whole_number(c.p[0][i]);
    }
};

template <class Body, int... X>
struct nest<op::to_int, Body, X...> { using type = to_int; };

} // namespace sinter::cpu
