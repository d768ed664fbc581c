// SPDX-License-Identifier: BSL-1.0
#include "servers.hpp"

bool distributed::train_with_servers_canonical(const settings& s, int& code) {
    if (s.canonical != 4) return false;
    if (s.detail == "sync:0") code = train(s, canonical<4>(servers_of<sync<0>>(s)));
    else if (s.detail == "stale:0") code = train(s, canonical<4>(servers_of<stale<0>>(s)));
    else return false;
    return true;
}
