// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/rowwise/body.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Row indices[i] of a table for each of c.m indices. The indices, int32,
/// were checked when the batch was bound.
template <class Body>
struct gather_rows {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const std::int64_t width = c.e[gather_rows_extent::width], end = share(c.m, c.part + 1, c.parts);
        const auto* index = reinterpret_cast<const std::int32_t*>(c.p[gather_rows_operand::indices]);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i) {
            const float* from = c.p[gather_rows_operand::table] + index[i] * width;
            std::int64_t j = 0;
            for (; j + lanes <= width; j += lanes)
                Body::vector(load(from + j), i * width + j, i, static_cast<int>(j), c);
            if (const int n = static_cast<int>(width - j); n > 0)
                Body::vector(load(from + j, n), n, i * width + j, i, static_cast<int>(j), c);
        }
    }
};

template <class Body, int... X>
struct nest<op::gather_rows, Body, X...> { using type = gather_rows<Body>; };

} // namespace sinter::cpu
