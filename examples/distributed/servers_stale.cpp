// SPDX-License-Identifier: BSL-1.0
#include "servers.hpp"

bool distributed::train_with_servers_stale(const settings& s, int& code) {
    if (s.detail == "stale:0") code = train_with_servers<stale<0>>(s);
    else if (s.detail == "stale:1") code = train_with_servers<stale<1>>(s);
    else if (s.detail == "stale:3") code = train_with_servers<stale<3>>(s);
    else return false;
    return true;
}
