// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>
#include <sinter/kernel/ordering.hpp>
#include <sinter/ops/sort.hpp>
#include <utility>

namespace sinter::cpu {

/// The first e2 of each sorted axis: p[0] = m blocks [e0][e1]; p[1] = places (may be null), p[2] = values, both m blocks [e2][e1];
/// e3: descending. Few are inserted one by one into the list of the best so far; many are merged.
struct sorting {
    static constexpr std::int64_t few = 32;
    static constexpr std::int64_t room(const std::int64_t* e) { return round_up(3 * e[0], 16); }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) { return parts * room(e); }

    static void run(const call& c) {
        const std::int64_t n = c.e[0], inner = c.e[1], k = c.e[2], end = share(c.m * inner, c.part + 1, c.parts);
        float* const keys = c.scratch + c.part * room(c.e);
        auto* const list = reinterpret_cast<std::int32_t*>(keys + n);
        for (std::int64_t r = share(c.m * inner, c.part, c.parts); r < end; ++r) {
            const float* from = c.p[0] + r / inner * n * inner + r % inner;
            for (std::int64_t i = 0; i < n; ++i) keys[i] = from[i * inner];
            const std::int32_t* best = k <= few ? insert(keys, list, n, k, c.e[3] != 0) : merge(keys, list, list + n, n, c.e[3] != 0);
            const std::int64_t at = r / inner * k * inner + r % inner;
            for (std::int64_t i = 0; i < k; ++i) {
                c.p[2][at + i * inner] = keys[best[i]];
                if (c.p[1]) reinterpret_cast<std::int32_t*>(c.p[1])[at + i * inner] = best[i];
            }
        }
    }

private:
    static const std::int32_t* insert(const float* keys, std::int32_t* list, std::int64_t n, std::int64_t k, bool descending) {
        std::int64_t have = 0;
        for (std::int32_t i = 0; i < n; ++i) {
            if (have == k && !stands_before(keys[i], keys[list[k - 1]], descending)) continue;
            std::int64_t j = have < k ? have++ : k - 1;
            for (; j > 0 && stands_before(keys[i], keys[list[j - 1]], descending); --j) list[j] = list[j - 1];
            list[j] = i;
        }
        return list;
    }
    /// From runs of one to runs of n, between two lists of places.
    static const std::int32_t* merge(const float* keys, std::int32_t* a, std::int32_t* b, std::int64_t n, bool descending) {
        for (std::int32_t i = 0; i < n; ++i) a[i] = i;
        for (std::int64_t run = 1; run < n; run *= 2, std::swap(a, b))
            for (std::int64_t first = 0; first < n; first += 2 * run) {
                std::int64_t i = first, j = first + run < n ? first + run : n;
                const std::int64_t middle = j, last = first + 2 * run < n ? first + 2 * run : n;
                for (std::int64_t to = first; to < last; ++to)
                    b[to] = i < middle && (j == last || !stands_before(keys[a[j]], keys[a[i]], descending)) ? a[i++] : a[j++];
            }
        return a;
    }
};

template <class Body, int... X>
struct nest<op::sort, Body, X...> { using type = sorting; };

} // namespace sinter::cpu
