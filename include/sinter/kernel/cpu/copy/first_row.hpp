// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/detail/first_row.hpp>
#include <cstring>

namespace sinter::inline SINTER_TARGET::cpu {

/// The first e0 floats of p[0] to p[1].
struct first_row {
    static void run(const call& c) {
        const std::int64_t begin = share(c.e[0], c.part, c.parts), end = share(c.e[0], c.part + 1, c.parts);
        std::memcpy(c.p[1] + begin, c.p[0] + begin, 4 * static_cast<std::size_t>(end - begin));
    }
};

template <class Body, int... X>
struct nest<op::first_row, Body, X...> { using type = first_row; };

} // namespace sinter::cpu
