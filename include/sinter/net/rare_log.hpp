// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/joined.hpp>
#include <sinter/base/monotonic_seconds.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdio>
#include <functional>

namespace sinter::inline SINTER_TARGET::wire {

/// Lines that strangers can cause: at most one a second, which says how many were left out.
class rare_log {
public:
    using sink = std::function<void(const std::string&)>;
    explicit rare_log(sink to = {}) : to_(std::move(to)) {}

    void say(const std::string& line) {
        const double now = base::monotonic_seconds();
        if (now < next_) {
            ++left_out_;
            return;
        }
        next_ = now + 1;
        const std::string all = left_out_ == 0 ? line : joined({line, " (and ", left_out_, " others before it)"});
        left_out_ = 0;
        if (to_) to_(all);
        else std::fprintf(stderr, "sinter: %s\n", all.c_str());
    }

private:
    sink to_;
    double next_ = 0;
    std::uint64_t left_out_ = 0;
};

} // namespace sinter::wire
