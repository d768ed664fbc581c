// SPDX-License-Identifier: BSL-1.0
#include "servers.hpp"

bool distributed::train_with_servers_sync(const settings& s, int& code) {
    if (s.detail == "sync:0") code = train_with_servers<sync<0>>(s);
    else if (s.detail == "sync:1") code = train_with_servers<sync<1>>(s);
    else return false;
    return true;
}
