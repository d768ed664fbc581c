// SPDX-License-Identifier: BSL-1.0
#include "servers.hpp"

bool distributed::train_servers(const settings& s, int& code) {
    if (s.strategy != "parameter_server") return false;
    if (s.canonical) return train_with_servers_canonical(s, code);
    if (s.detail == "async") return code = train_with_servers<async>(s), true;
    return train_with_servers_stale(s, code) || train_with_servers_sync(s, code);
}
