// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>
#include <sinter/kernel/pad_axes.hpp>
#include <sinter/ops/pad.hpp>
#include <cstring>

namespace sinter::cpu {

/// p[0] with mirrored or repeated margins to p[1], row by row of the last axis.
struct mirrored_pad {
    static void run(const call& c) {
        const pad_axis last(c.e, 4);
        const std::int64_t all = padded_size(c.e), rows = all / last.out, size = unpadded_size(c.e);
        const std::int64_t end = share(rows * c.m, c.part + 1, c.parts);
        for (std::int64_t r = share(rows * c.m, c.part, c.parts); r < end; ++r) {
            const std::int64_t first = pad_source(c.e, r % rows * last.out + last.before);
            const float* from = c.p[0] + r / rows * size + first;
            float* to = c.p[1] + r * last.out;
            std::memcpy(to + last.before, from, 4 * static_cast<std::size_t>(last.n));
            for (std::int64_t j = 0; j < last.before; ++j) to[j] = from[last.from(j)];
            for (std::int64_t j = last.before + last.n; j < last.out; ++j) to[j] = from[last.from(j)];
        }
    }
};
/// The other way round: sums.
struct mirrored_pad_gradient {
    static void run(const call& c) {
        const std::int64_t all = padded_size(c.e), size = unpadded_size(c.e), end = share(size * c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(size * c.m, c.part, c.parts); i < end; ++i)
            c.p[1][i] = pad_sum(c.e, i % size, c.p[0] + i / size * all);
    }
};

template <class Body, int... X>
struct nest<op::pad, Body, X...> { using type = mirrored_pad; };
template <class Body, int... X>
struct nest<op::pad_gradient, Body, X...> { using type = mirrored_pad_gradient; };

} // namespace sinter::cpu
