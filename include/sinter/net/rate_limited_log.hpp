// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/target_namespace.hpp>
#include <functional>
#include <string>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Lines that unknown peers can cause: at most one a second, which says how many were left out. Without a function of
/// one's own they are messages (base/message.hpp).
class rate_limited_log {
public:
    using sink = std::function<void(const std::string&)>;
    /// `place`: whose lines they are, "worker/1".
    explicit rate_limited_log(sink to = {}, std::string place = {}) : to_(std::move(to)), place_(std::move(place)) {}

    void write(const std::string& line, message_level level = message_level::normal) {
        const double now = base::monotonic_seconds();
        if (now < next_) {
            ++left_out_;
            return;
        }
        next_ = now + 1;
        const std::string all = left_out_ == 0 ? line : to_text({line, " (and ", left_out_, " others before it)"});
        left_out_ = 0;
        if (to_) to_(base::one_line(all));
        else base::say(level, all, place_);
    }

private:
    sink to_;
    std::string place_;
    double next_ = 0;
    std::uint64_t left_out_ = 0;
};

} // namespace sinter::wire
