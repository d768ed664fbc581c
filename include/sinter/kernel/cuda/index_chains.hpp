// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/host_device.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/base/target_namespace.hpp>

/// Places of equal indices, one behind the other, for sums of the rows that have them: a merge sort
/// of m places by index and place, in which each thread finds where its own place belongs. No two
/// threads write to one place, so nothing depends on their order; m log(m)^2 steps in all.
namespace sinter::inline SINTER_TARGET::gpu {

struct chain_call {
    const std::int32_t* index = nullptr;   ///< m of them
    std::int32_t *from = nullptr, *to = nullptr;   ///< places, in sorted runs: before and after a step
    std::int32_t* next = nullptr;   ///< of each place, the next one of the same index; -1: there is none
    std::int32_t* first = nullptr;  ///< of each index, its first place; -1: there is none. Or null
    /// Where a list is wanted of the indices that occur, in the order of their first places: of
    /// place k of the list that first place; how many there are; and, if not null, the indices
    /// behind `list_header` words.
    std::int32_t *order = nullptr, *count = nullptr, *keys = nullptr;
    std::int32_t *leads = nullptr, *tiles = nullptr, *groups = nullptr;   ///< 1 for a first place; their sums
    std::int64_t m = 0;
    std::int64_t run = 0;   ///< length of the runs in `from`
};

enum class chain_step { clear_first, sort_tile, merge, link, sum_tile, sum_group, enter };
inline constexpr int chain_tile = 64;   ///< places that are sorted, or added up, at once

/// Words of scratch memory: with the first place of each of `rows` indices, or for a list.
constexpr std::int64_t chain_words(std::int64_t m, std::int64_t rows, bool lists) {
    const std::int64_t tiles = (m + chain_tile - 1) / chain_tile;
    return lists ? 4 * m + tiles + (tiles + chain_tile - 1) / chain_tile + 1 : 2 * m + rows;
}

namespace detail {
SINTER_HOST_DEVICE bool comes_before(std::int32_t a, std::int32_t b, const std::int32_t* index) {
    return index[a] < index[b] || (index[a] == index[b] && a < b);
}
SINTER_HOST_DEVICE std::int32_t sum_of(const std::int32_t* x, std::int64_t first, std::int64_t end) {
    std::int32_t n = 0;
    for (; first < end; ++first) n += x[first];
    return n;
}
SINTER_HOST_DEVICE std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
/// How many of a run come before place `own`.
SINTER_HOST_DEVICE std::int64_t before_in_run(const std::int32_t* run, std::int64_t length, std::int32_t own,
                                              const std::int32_t* index) {
    std::int64_t low = 0;
    while (low < length) {
        const std::int64_t middle = (low + length) / 2;
        if (comes_before(run[middle], own, index)) low = middle + 1;
        else length = middle;
    }
    return low;
}
} // namespace detail

/// What thread i does in a step.
template <chain_step Step>
SINTER_HOST_DEVICE void chain_thread(std::int64_t i, const chain_call& c) {
    constexpr std::int64_t tile = chain_tile;
    if constexpr (Step == chain_step::clear_first) {
        c.first[i] = -1;
    } else if constexpr (Step == chain_step::sort_tile) {
        const std::int64_t begin = i / tile * tile, end = detail::lesser(begin + tile, c.m);
        const auto own = static_cast<std::int32_t>(i);
        std::int64_t before = begin;
        for (std::int64_t j = begin; j < end; ++j)
            before += detail::comes_before(static_cast<std::int32_t>(j), own, c.index);
        c.to[before] = own;
    } else if constexpr (Step == chain_step::merge) {
        const std::int64_t number = i / c.run, own = number * c.run, other = (number ^ 1) * c.run;
        const std::int64_t length = other < c.m ? detail::lesser(c.run, c.m - other) : 0;
        const std::int64_t before = detail::before_in_run(c.from + other, length, c.from[i], c.index);
        c.to[detail::lesser(own, other) + (i - own) + before] = c.from[i];
    } else if constexpr (Step == chain_step::link) {
        const std::int32_t own = c.from[i], v = c.index[own];
        c.next[own] = i + 1 < c.m && c.index[c.from[i + 1]] == v ? c.from[i + 1] : -1;
        const bool leads = i == 0 || c.index[c.from[i - 1]] != v;
        if (c.leads) c.leads[own] = leads;
        else if (leads) c.first[v] = own;
    } else if constexpr (Step == chain_step::sum_tile) {
        c.tiles[i] = detail::sum_of(c.leads, i * tile, detail::lesser((i + 1) * tile, c.m));
    } else if constexpr (Step == chain_step::sum_group) {
        c.groups[i] = detail::sum_of(c.tiles, i * tile, detail::lesser((i + 1) * tile, (c.m + tile - 1) / tile));
    } else {
        const bool leads = c.leads[i] != 0, last = i + 1 == c.m;
        if (!leads && !last) return;
        const std::int32_t k = detail::sum_of(c.groups, 0, i / (tile * tile)) +
                               detail::sum_of(c.tiles, i / (tile * tile) * tile, i / tile) +
                               detail::sum_of(c.leads, i / tile * tile, i);
        if (leads) c.order[k] = static_cast<std::int32_t>(i);
        if (leads && c.keys) c.keys[list_header + k] = c.index[i];
        if (last) *c.count = k + leads;
    }
}

/// All steps, by an engine's `chain<Step>(threads, call)`. Indices are below `rows`. `scratch`:
/// chain_words of memory. `keys`: of the list that is wanted (row_list), or null. The result has
/// `next` and what was asked for.
template <class Engine>
chain_call make_chains(Engine& engine, const std::int32_t* index, std::int64_t m, std::int64_t rows, bool lists,
                       std::int32_t* keys, std::int32_t* scratch) {
    const std::int64_t tiles = (m + chain_tile - 1) / chain_tile, groups = (tiles + chain_tile - 1) / chain_tile;
    chain_call c;
    c.index = index;
    c.m = m;
    std::int32_t *spare = scratch, *at = scratch + 2 * m;
    c.to = scratch + m;
    if (lists) {
        c.order = at;
        c.leads = at + m;
        c.tiles = at + 2 * m;
        c.groups = c.tiles + tiles;
        c.count = keys ? keys : c.groups + groups;
        c.keys = keys;
    } else {
        c.first = at;
        engine.template chain<chain_step::clear_first>(rows, c);
    }
    engine.template chain<chain_step::sort_tile>(m, c);
    for (c.run = chain_tile; c.run < m; c.run *= 2) {
        c.from = c.to;
        c.to = spare;
        spare = c.from;
        engine.template chain<chain_step::merge>(m, c);
    }
    c.from = c.to;
    c.next = spare;
    engine.template chain<chain_step::link>(m, c);
    if (lists) {
        engine.template chain<chain_step::sum_tile>(tiles, c);
        engine.template chain<chain_step::sum_group>(groups, c);
        engine.template chain<chain_step::enter>(m, c);
    }
    return c;
}

} // namespace sinter::gpu
