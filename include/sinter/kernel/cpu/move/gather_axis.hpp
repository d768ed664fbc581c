// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>
#include <sinter/ops/gather.hpp>
#include <cstring>

/// Slices of a whole at indices along an axis, and their sums back at these places. Indices are known to be places of the axis.
namespace sinter::cpu {

/// e = {outer, n, inner, count, index steps along outer, count, inner, whole of one example, indices of one example}.
struct gathered {
    const std::int64_t* e;
    const std::int32_t* index;
    gathered(const call& c, int which) : e(c.e), index(reinterpret_cast<const std::int32_t*>(c.p[which])) {}
    /// The place along the axis of slice element [o, i, j] of example b.
    std::int64_t place(std::int64_t b, std::int64_t o, std::int64_t i, std::int64_t j) const {
        return index[b * e[8] + o * e[4] + i * e[5] + j * e[6]];
    }
};

/// p[0] = whole, p[1] = indices, p[2] = slices.
struct gather_axis {
    static void run(const call& c) {
        const gathered g(c, 1);
        const std::int64_t outer = c.e[0], n = c.e[1], inner = c.e[2], count = c.e[3];
        const std::int64_t rows = c.m * outer * count, end = share(rows, c.part + 1, c.parts);
        for (std::int64_t r = share(rows, c.part, c.parts); r < end; ++r) {
            const std::int64_t i = r % count, o = r / count % outer, b = r / count / outer;
            const float* from = c.p[0] + b * c.e[7] + o * n * inner;
            float* to = c.p[2] + r * inner;
            if (c.e[6] == 0) {
                std::memcpy(to, from + g.place(b, o, i, 0) * inner, 4 * static_cast<std::size_t>(inner));
            } else {
                for (std::int64_t j = 0; j < inner; ++j) to[j] = from[g.place(b, o, i, j) * inner + j];
            }
        }
    }
};
/// p[0] = indices, p[1] = slices, p[2] = whole. In blocks of columns, each of which one part does from the first slice to the last.
struct scatter_axis {
    static constexpr std::int64_t block = 64;
    static void run(const call& c) {
        const gathered g(c, 0);
        const std::int64_t outer = c.e[0], n = c.e[1], inner = c.e[2], count = c.e[3], blocks = (inner + block - 1) / block;
        const std::int64_t units = c.m * outer * blocks, end = share(units, c.part + 1, c.parts);
        for (std::int64_t u = share(units, c.part, c.parts); u < end; ++u) {
            const std::int64_t first = u % blocks * block, last = first + block < inner ? first + block : inner;
            const std::int64_t o = u / blocks % outer, b = u / blocks / outer;
            float* to = c.p[2] + (b * outer + o) * n * inner;
            const float* from = c.p[1] + (b * outer + o) * count * inner;
            for (std::int64_t i = 0; i < n; ++i) std::memset(to + i * inner + first, 0, 4 * static_cast<std::size_t>(last - first));
            for (std::int64_t i = 0; i < count; ++i)
                for (std::int64_t j = first; j < last; ++j) to[g.place(b, o, i, j) * inner + j] += from[i * inner + j];
        }
    }
};

template <class Body, int... X>
struct nest<op::gather, Body, X...> { using type = gather_axis; };
template <class Body, int... X>
struct nest<op::scatter_add, Body, X...> { using type = scatter_axis; };

} // namespace sinter::cpu
