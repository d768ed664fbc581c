// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "member.hpp"
#include <algorithm>
#include <optional>
#include <utility>

namespace launch {

/// Finds the member that is slower than the others. Where each step needs all of them, all take the
/// same time: one works, and the others wait for it. Where each goes its own way (asynchronous
/// workers, and backup workers), one makes fewer steps than the others.
class slow_member {
public:
    static constexpr double after = 1;        ///< seconds for which it must have been so
    static constexpr double often = 0.5;      ///< of their time others wait, at least
    static constexpr double few_steps = 0.5;  ///< of the others' steps, at most

    struct news {
        std::size_t member;
        bool slow;          ///< false: it keeps up with the others again
        std::string text;   ///< a line to be shown
    };
    /// Once for each time that somebody becomes slow or keeps up again.
    std::optional<news> look(const std::vector<member>& members, double now) {
        finding found = who_is_waited_for(members, now);
        if (found.member < 0) found = who_makes_fewer_steps(members, now);
        if (found.member != suspect_) suspect_ = found.member, since_ = now;
        if (suspect_ == reported_ || now - since_ < after) return {};
        const int before = std::exchange(reported_, suspect_);
        const auto which = static_cast<std::size_t>(reported_ < 0 ? before : reported_);
        const std::string name = members[which].name();
        if (reported_ < 0) return news{which, false, name + " keeps up with the others again"};
        return news{which, true, name + " is slow: " + found.why};
    }

private:
    struct finding {
        int member = -1;   // none
        std::string why{};
    };
    int suspect_ = -1, reported_ = -1;
    double since_ = 0;

    static std::string percent(double part) { return std::to_string(static_cast<int>(100 * part)) + " %"; }
    static bool counts(const member& m, double now) {
        return m.trains() && m.running() && m.busy >= 0 && now - m.reported_at < 10;
    }
    /// The one that works while all others wait.
    static finding who_is_waited_for(const std::vector<member>& members, double now) {
        int at = -1, n = 0;
        double most = 0, second = 0, least = 1;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (!counts(members[i], now)) continue;
            ++n;
            const double b = members[i].busy;
            least = std::min(least, b);
            if (b > most) second = most, most = b, at = static_cast<int>(i);
            else second = std::max(second, b);
        }
        if (n < 2 || most < 0.6 || second > 1 - often || second >= 0.6 * most) return {};
        return {at, "others wait for it " + percent(1 - least) + " of their time"};
    }
    /// Steps per second; a member that has not reported for so long makes at most one in that
    /// time.
    static double pace(const member& m, double now) {
        const double silent = now - m.reported_at;
        return silent > 0.3 ? std::min(m.pace, 1 / silent) : m.pace;
    }
    /// The one that makes but a part of the others' steps.
    static finding who_makes_fewer_steps(const std::vector<member>& members, double now) {
        int at = -1;
        double least = 0;
        std::vector<double> paces;
        for (std::size_t i = 0; i < members.size(); ++i) {
            const member& m = members[i];
            if (!m.trains() || !m.running() || m.pace < 0) continue;
            const double p = pace(m, now);
            paces.push_back(p);
            if (at < 0 || p < least) at = static_cast<int>(i), least = p;
        }
        if (paces.size() < 2) return {};
        std::ranges::sort(paces);
        const double usual = paces[paces.size() / 2];   // the lower median of the others
        if (least >= few_steps * usual) return {};
        return {at, "it makes " + percent(least / usual) + " of the others' steps"};
    }
};

} // namespace launch
