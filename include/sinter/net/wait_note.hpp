// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/// What members of a job say about who is there, and who is not yet.
namespace sinter::inline SINTER_ORDINARY::wire {

/// The first eight of a list, and how many more there are.
SINTER_COLD inline std::string few_of(const std::vector<std::string>& all) {
    constexpr std::size_t most = 8;
    std::string s;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) s += (i ? ", " : "") + all[i];
    return all.size() <= most ? s : to_text({s, " and ", all.size() - most, " more"});
}

/// Notifies the operator whom this member waits for: after two seconds, after ten, after a minute, and
/// then every five minutes.
class wait_note {
public:
    /// `own`: who waits, "worker/0". `limit`: seconds after which the wait ends with an error; 0: it has no end.
    wait_note(std::string own, double limit)
        : own_(std::move(own)), limit_(limit), began_(base::monotonic_seconds()),
          next_(began_ + (limit > 0 ? std::min(2., limit / 4) : 2.)) {}

    /// Whether it is time to say so (again). Cheap.
    bool due() const { return base::monotonic_seconds() >= next_; }
    double seconds_left() const { return std::max(0., next_ - base::monotonic_seconds()); }
    /// `whom`: "worker/1 at 10.0.0.2:2222", each. `why`: what is known of the cause.
    SINTER_COLD void say(const std::vector<std::string>& whom, const std::string& why = {}) {
        const double now = base::monotonic_seconds(), waited = now - began_;
        if (!whom.empty() && base::says(message_level::normal)) {
            std::string time = limit_ > 0 ? base::number_text(limit_) + " s" : "no limit";
            if (said_) time = to_text({time, ", ", static_cast<std::int64_t>(waited), " s of them are over"});
            base::say(message_level::normal,
                      to_text({own_, " waits for ", few_of(whom), " (", time, ")", why.empty() ? "" : ": ", why}),
                      own_);
            said_ = true;
        }
        next_ = began_ + (waited < 10 ? 10 : waited < 60 ? 60 : 300 * (std::floor(waited / 300) + 1));
    }

private:
    std::string own_;
    double limit_, began_, next_;
    bool said_ = false;
};

/// Notifies the operator that all of a job have met: `members` by rank, "worker/1 at 10.0.0.2:2222".
SINTER_COLD inline void report_all_joined(const std::string& own, const std::vector<std::string>& members) {
    if (!base::says(message_level::normal)) return;
    base::say(message_level::normal,
              to_text({own, " is in a job of ", members.size(), " members, and all are there: ", few_of(members)}),
              own);
}

} // namespace sinter::wire
