// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <sinter/base/os/monotonic_seconds.hpp>

namespace sinter::bench {

/// What is timed, as one member sees it.
struct member_of_system {
    int rank = 0;
    std::function<void()> run;                        ///< one operation
    std::function<void(std::int64_t&)> from_rank_0;   ///< all get its number
};

/// Times operations of all members in samples of at least 2 ms; rank 0 prints the JSON line. No
/// barrier between operations: each waits for the others by itself.
inline void time_operations(member_of_system m, const std::string& system, const std::string& what, int ranks,
                            std::int64_t bytes, double seconds) {
    double one = 1e9;
    for (int k = 0; k < 5; ++k) {
        const double begin = base::monotonic_seconds();
        m.run();
        one = std::min(one, base::monotonic_seconds() - begin);
    }
    std::int64_t calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(0.002 / one), 1, 200);
    m.from_rank_0(calls);
    std::int64_t samples =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds / (one * static_cast<double>(calls))), 5, 2000);
    m.from_rank_0(samples);
    std::vector<double> t;
    for (std::int64_t s = 0; s < samples; ++s) {
        const double begin = base::monotonic_seconds();
        for (std::int64_t c = 0; c < calls; ++c) m.run();
        t.push_back((base::monotonic_seconds() - begin) / static_cast<double>(calls));
    }
    if (m.rank != 0) return;
    std::sort(t.begin(), t.end());
    std::printf(
        "{\"system\": \"%s\", \"what\": \"%s\", \"ranks\": %d, \"bytes\": %lld, \"median_ms\": %.6f, "
        "\"best_ms\": %.6f}\n",
        system.c_str(), what.c_str(), ranks, static_cast<long long>(bytes), 1e3 * t[t.size() / 2], 1e3 * t.front());
    std::fflush(stdout);
}

}   // namespace sinter::bench
