// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <string>
#include <vector>

/// Sums of shards' gradients that devices make themselves, in the order of tree_sum: each by the device whose memory
/// has it. `others`: gradients go to other processes as well.
namespace sinter::inline SINTER_TARGET::strategy_parts::device_sums {

/// Updates of all training programs add up the gradients of all shards themselves (strategy_traits::gradient_sources).
template <class Programs>
void let_updates_read_all(replica_set<Programs>& replicas, bool others) {
    using set = replica_set<Programs>;
    constexpr int sources = set::P0::request::options.gradient_sources;
    if (others || replicas.size() != sources)
        throw option_error("replicas whose gradients an update adds up", "strategy_traits::gradient_sources",
                           std::to_string(sources), "as many as this process has, and no other process");
    std::vector<float*> arenas(static_cast<std::size_t>(replicas.size()));
    const auto of_program = [&]<int K>(std::integral_constant<int, K>) {
        using P = typename set::template training<K>;
        const compiler::space in = P::v.n_buckets ? P::v.buckets[0].at.where() : compiler::space::gradient;
        for (int i = 0; i < replicas.size(); ++i) {
            replicas[i].template use_gradients<K>();
            arenas[static_cast<std::size_t>(i)] = replicas[i].host({in, 0});
        }
        replicas.first().template runner<K>().update_from(arenas.data());
    };
    [&]<int... I>(std::integer_sequence<int, I...>) { (of_program(std::integral_constant<int, I>{}), ...); }(
        typename set::all{});
}

/// Bucket k of all shards in the first one's memory, added up beside what the devices do. Waits for it only where the
/// host has it then.
template <int I, class Programs>
void add_up_aside(replica_set<Programs>& replicas, int k, bool others) {
    using set = replica_set<Programs>;
    const compiler::gradient_bucket& b = set::template training<I>::v.buckets[k];
    const int shards = replicas.size();
    const auto has = [&](int i) { return replicas.filled(i) || set::unit::accumulates(); };
    for (int i = 0; i < shards; ++i)
        if (has(i)) replicas[i].template follow<I>(k);
    if constexpr (set::peers)
        for (int step = 1; step < shards; step *= 2)
            for (int i = 0; i + step < shards; i += 2 * step) replicas[i].add_aside(replicas[i + step], b.at, b.floats);
    if (replicas.on_devices()) return replicas.first().wait_aside();
    for (int i = 0; i < (set::peers ? 1 : shards); ++i)
        if (set::peers ? others : has(i)) replicas[i].read_aside(b.at, replicas.template place<I>(i, b.at), b.floats);
}

/// Of all buckets, by each of the threads.
template <int I, class Programs>
void add_up(replica_set<Programs>& replicas, int thread, bool others) {
    using set = replica_set<Programs>;
    for (int step = 1; step < replicas.size(); step *= 2) {
        replicas.own_shards(thread, [&](int i) {
            if (i % (2 * step) != 0 || i + step >= replicas.size()) return;
            for (const compiler::gradient_bucket& b : set::template buckets<I>())
                if (!b.is_list()) replicas[i].add_from(replicas[i + step], b.at, b.floats);
        });
        replicas.meet(thread);
    }
    if (others && !replicas.on_devices() && thread == 0) replicas.template fetch<I>(0);
}

/// What all together have: to each device, likewise.
template <int I, class Programs>
void spread(replica_set<Programs>& replicas, int thread, bool others) {
    using set = replica_set<Programs>;
    if (others && !replicas.on_devices() && thread == 0)
        for (const compiler::gradient_bucket& b : set::template buckets<I>())
            if (!b.is_list()) replicas.first().write(b.at, replicas.template place<I>(0, b.at), b.floats);
    replicas.meet(thread);
    replicas.own_shards(thread, [&](int i) {
        for (const compiler::gradient_bucket& b : set::template buckets<I>())
            if (i > 0 && !b.is_list()) replicas[i].copy_from(replicas.first(), b.at, b.floats);
    });
    replicas.meet(thread);
}

} // namespace sinter::strategy_parts::device_sums
