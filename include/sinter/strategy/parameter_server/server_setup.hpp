// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/cluster.hpp>
#include <sinter/parameter_server/client.hpp>
#include <sinter/parameter_server/server.hpp>
#include <sinter/strategy/synchronous/options.hpp>

namespace sinter::inline SINTER_TARGET {

/// How a strategy with servers is made up: what it says when its trainer is made.
struct server_setup {
    cluster members{};
    sharded::update_order order{};
    batch_input input = batch_input::per_worker;
    int shards = 1;           ///< of this process's part of a batch
    bool canonical = false;   ///< sums over all shards are a tree's, and losses are divided by the whole batch
    int pull_every = 1, push_every = 1;
    bool prefetch = false;
    sharded::row_partition rows = sharded::row_partition::mod;
    sharded::client_options connection{};
    int replicas = 1;   ///< servers that keep each shard
    std::string checkpoints{};   ///< folder of the servers'; empty: none
    int keep = 2;
    std::int64_t save_every_steps = 0;
    double save_every_seconds = 0;
    std::uint64_t policy = 0;   ///< a number that processes of one job share
};

}   // namespace sinter::inline SINTER_TARGET
