// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "member.hpp"

namespace launch {

/// Finds the member that the others wait for. In a synchronous step all take the same time: one of
/// them works, and the others wait for it.
class slow_member {
public:
    static constexpr double after = 1;    ///< seconds for which it must have been so
    static constexpr double often = 0.5;  ///< of their time others wait, at least

    /// A line to be shown, once for each time that somebody becomes slow or keeps up again; else empty.
    std::string look(const std::vector<member>& members, double now) {
        const int found = slowest(members, now);
        if (found != suspect_) suspect_ = found, since_ = now;
        if (suspect_ == told_ || now - since_ < after) return {};
        const int before = std::exchange(told_, suspect_);
        if (told_ < 0) return members[static_cast<std::size_t>(before)].name() + " keeps up with the others again";
        double least = 1;
        for (const member& m : members)
            if (counts(m, now) && &m != &members[static_cast<std::size_t>(told_)]) least = std::min(least, m.busy);
        return members[static_cast<std::size_t>(told_)].name() + " is slow: others wait for it " +
               std::to_string(static_cast<int>(100 * (1 - least))) + " % of their time";
    }

private:
    int suspect_ = -1, told_ = -1;
    double since_ = 0;

    static bool counts(const member& m, double now) {
        return m.trains() && m.running() && m.busy >= 0 && now - m.heard_at < 10;
    }
    /// The one that works while all others wait; -1: there is none.
    static int slowest(const std::vector<member>& members, double now) {
        int at = -1;
        double most = 0, second = 0;
        int n = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (!counts(members[i], now)) continue;
            ++n;
            const double b = members[i].busy;
            if (b > most) second = most, most = b, at = static_cast<int>(i);
            else second = std::max(second, b);
        }
        return n > 1 && most >= 0.6 && second <= (1 - often) && second < 0.6 * most ? at : -1;
    }
};

} // namespace launch
