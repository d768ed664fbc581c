// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/cluster.hpp>
#include <sinter/parameter_server/shard_layout.hpp>

namespace {

sinter::cluster members(const std::vector<std::string>& addresses, sinter::cluster_role role) {
    const auto worker = sinter::wire::parse_address(addresses[0], "the worker"),
               server = sinter::wire::parse_address(addresses[1], "the server");
    return {{{sinter::cluster_role::worker, 0, worker.host, worker.port},
             {sinter::cluster_role::ps, 0, server.host, server.port}},
            role,
            0};
}
std::vector<sinter::parameter_servers::shard_layout> layouts() {
    std::vector<sinter::parameter_servers::shard_layout> all(1);
    all[0].floats = 16;
    all[0].runs.push_back({0, 16, 0, -1});
    return all;
}

} // namespace
