// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/cluster.hpp>
#include <sinter/parameter_server/client.hpp>
#include <sinter/parameter_server/server.hpp>
#include <sinter/strategy/synchronous/options.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// How a strategy with servers is made up: what it says when its trainer is made.
struct server_setup {
    cluster members{};
    parameter_servers::update_order order{};
    batch_input input = batch_input::per_worker;
    int shards = 1;           ///< of this process's part of a batch
    bool canonical = false;   ///< sums over all shards are a tree's, and losses are divided by the whole batch
    int pull_every = 1, push_every = 1;
    bool prefetch = false;
    parameter_servers::row_partition rows = parameter_servers::row_partition::mod;
    parameter_servers::client_options connection{};
    int replicas = 1;   ///< servers that keep each shard
    std::string checkpoints{};   ///< folder of the servers'; empty: none
    int keep = 2;
    std::int64_t save_every_steps = 0;
    double save_every_seconds = 0;
    std::string changes{};       ///< folder of tables' rows that have changed; empty: none
    std::int64_t changes_every_steps = 1000;
    std::uint64_t policy = 0;   ///< a number that processes of one job share

    /// Throws option_error where servers cannot keep parts so often.
    SINTER_COLD void check_replicas() const {
        const auto refuse = [](const char* what, const std::string& got, const char* needed) {
            throw option_error(what, "parameter_server_options::replicas", got, needed);
        };
        if (replicas != 1 && replicas != 2)
            refuse("no number of copies of a server's part", std::to_string(replicas), "1 or 2");
        if (replicas == 1) return;
        if (members.servers().size() < 2)
            refuse("one server cannot keep its part twice", std::to_string(members.servers().size()) + " server",
                   "2 or more: --ps 2");
        if (connection.reconnect_within <= 0)
            refuse("workers that do not dial again cannot find another server", "reconnect_within = 0", "more than 0");
    }
};

} // namespace sinter::strategy_parts
