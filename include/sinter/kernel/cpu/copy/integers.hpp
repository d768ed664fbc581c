// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/ordering.hpp>
#include <sinter/ops/argmax.hpp>
#include <sinter/ops/gather_nd.hpp>

/// Kernels that make integers.
namespace sinter::inline SINTER_TARGET::cpu {

struct to_int {
    static void run(const call& c) {
        auto* to = reinterpret_cast<std::int32_t*>(c.p[copy_operand::to]);
        for (std::int64_t i = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts); i < end; ++i)
            to[i] = int32_of(c.p[copy_operand::from][i]);
    }
};
/// [m][rank] places.
struct place_index {
    static void run(const call& c) {
        const auto* from = reinterpret_cast<const std::int32_t*>(c.p[copy_operand::from]);
        auto* to = reinterpret_cast<std::int32_t*>(c.p[copy_operand::to]);
        const std::int64_t rank = c.e[place_index_extent::rank];
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i)
            to[i] = place_number(from + i * rank, c.e + place_index_extent::first_axis, rank);
    }
};
/// m blocks [n][inner] to [m][inner], the place of the largest or smallest.
struct arg_extreme {
    static void run(const call& c) {
        const std::int64_t n = c.e[argmax_extent::n], inner = c.e[argmax_extent::inner];
        const std::int64_t end = share(c.m * inner, c.part + 1, c.parts);
        auto* to = reinterpret_cast<std::int32_t*>(c.p[copy_operand::to]);
        for (std::int64_t r = share(c.m * inner, c.part, c.parts); r < end; ++r) {
            const float* from = c.p[copy_operand::from] + r / inner * n * inner + r % inner;
            float best = *from;
            std::int32_t place = 0;
            for (std::int64_t i = 1; i < n; ++i)
                if (displaces(from[i * inner], best, c.e[argmax_extent::smallest] != 0)) {
                    best = from[i * inner];
                    place = static_cast<std::int32_t>(i);
                }
            to[r] = place;
        }
    }
};

template <class Body, int... X>
struct nest<op::to_int, Body, X...> { using type = to_int; };
template <class Body, int... X>
struct nest<op::place_index, Body, X...> { using type = place_index; };
template <class Body, int... X>
struct nest<op::argmax, Body, X...> { using type = arg_extreme; };

} // namespace sinter::cpu
