// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/address.hpp>
#include <sinter/net/cluster.hpp>

#include <string>
#include <utility>
#include <vector>

/// Jobs of benchmarks, whose members are processes of this machine.
namespace sinter::bench {

/// A job with a key, as one between machines has it.
inline cluster_options keyed_job() {
    cluster_options o;
    o.job = "bench";
    o.key = "a key of the benchmark's own";
    return o;
}

/// Workers, and servers behind them, at these addresses, as process i sees it.
inline cluster workers_and_servers(const std::vector<std::string>& addresses, int workers, int i,
                                   const cluster_options& options) {
    std::vector<cluster_member> all;
    for (int k = 0; k < static_cast<int>(addresses.size()); ++k) {
        const auto [host, port] = wire::parse_address(addresses[static_cast<std::size_t>(k)], "bench");
        const bool works = k < workers;
        all.push_back({works ? cluster_role::worker : cluster_role::ps, works ? k : k - workers, host, port});
    }
    const cluster_member self = all[static_cast<std::size_t>(i)];
    return cluster(std::move(all), self.role, self.index, options);
}

} // namespace sinter::bench
