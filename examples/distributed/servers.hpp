// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "train.hpp"
#include <sinter/parameter_server.hpp>

namespace distributed {

template <auto Mode>
parameter_server<Mode> servers_of(const settings& s) {
    return {cluster::from_environment(), {.replicas = s.replicas}};
}
/// sinter-launch --workers 3 --ps 2 -- distributed --strategy parameter_server:async
/// One mode; servers are processes of this program, too. Each mode is a file, to be compiled by
/// itself.
template <auto Mode>
int train_with_servers(const settings& s) {
    return train(s, servers_of<Mode>(s));
}
bool train_with_servers_stale(const settings&, int& code);
bool train_with_servers_sync(const settings&, int& code);
bool train_with_servers_canonical(const settings&, int& code);

} // namespace distributed
