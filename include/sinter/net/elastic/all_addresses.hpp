// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/process_group.hpp>
#include <algorithm>

namespace sinter::inline SINTER_ORDINARY::wire {

/// The same cluster with the addresses of all that train, where a launcher gives the master's alone (torchrun's and
/// mpirun's variables). On the loopback device each task has the port of its rank above the master's, so that one that
/// is started again is found where it was. Otherwise all meet at the master once, and send each other their addresses.
/// Throws what a process_group does where not all come.
SINTER_COLD inline cluster with_all_addresses(const cluster& who, const identity& same) {
    if (who.addresses_known() || who.rank() < 0) return who;
    const host_port master = who.master();
    const resolution found = resolve(master);
    const bool here = found.fault.empty() &&
                      std::all_of(found.endpoints.begin(), found.endpoints.end(),
                                  [](const endpoint& e) { return e.is_loopback(); });
    std::vector<host_port> by_rank;
    if (here && master.port + who.size() - 1 <= 65535) {
        for (int r = 0; r < who.size(); ++r)
            by_rank.push_back({master.host, static_cast<std::uint16_t>(master.port + r)});
    } else {
        cluster meeting = who;
        meeting.options.elastic = false;
        meeting.options.spares = 0;
        meeting.options.job = who.options.job.substr(0, 50) + "/addresses";
        process_group all(meeting, same);
        for (int r = 0; r < who.size(); ++r) by_rank.push_back(all.roster().member(r).address());
        all.leave();
    }
    return who.with_addresses(by_rank);
}

} // namespace sinter::wire
