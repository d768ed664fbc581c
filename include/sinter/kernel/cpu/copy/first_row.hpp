// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/detail/first_row.hpp>
#include <cstring>

namespace sinter::inline SINTER_TARGET::cpu {

/// The first floats of a batch.
struct first_row {
    static void run(const call& c) {
        const std::int64_t n = c.e[first_row_extent::width];
        const std::int64_t begin = share(n, c.part, c.parts), end = share(n, c.part + 1, c.parts);
        std::memcpy(c.p[copy_operand::to] + begin, c.p[copy_operand::from] + begin,
                    4 * static_cast<std::size_t>(end - begin));
    }
};

template <class Body, int... X>
struct nest<op::first_row, Body, X...> { using type = first_row; };

} // namespace sinter::cpu
