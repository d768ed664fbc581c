// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <string>
#include <unistd.h>
#include <vector>

namespace sinter {

/// Addresses of the loopback device that no other test uses at the same time: 127.x.y.1, .2, ...
inline std::vector<std::string> own_addresses(int n) {
    static int calls = 0;
    const int mine = static_cast<int>(::getpid());
    std::vector<std::string> a;
    for (int i = 0; i < n; ++i)
        a.push_back("127." + std::to_string(1 + mine / 250 % 250) + "." + std::to_string(1 + mine % 250) + "." +
                    std::to_string(1 + i) + ":" + std::to_string(7000 + calls));
    ++calls;
    return a;
}

} // namespace sinter
