// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/internal/shard_sum.hpp>
#include <cstring>

namespace sinter::inline SINTER_TARGET::cpu {

/// This shard's part of a sum, where the others' are added to it.
struct shard_sum {
    static void run(const call& c) {
        const std::int64_t n = c.e[shard_sum_extent::elements];
        const std::int64_t begin = share(n, c.part, c.parts), end = share(n, c.part + 1, c.parts);
        std::memcpy(c.p[copy_operand::to] + begin, c.p[copy_operand::from] + begin,
                    4 * static_cast<std::size_t>(end - begin));
    }
};

template <class Body, int... X>
struct nest<op::shard_sum, Body, X...> { using type = shard_sum; };

} // namespace sinter::cpu
