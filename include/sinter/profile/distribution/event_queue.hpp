// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace sinter::inline SINTER_TARGET::profile {

/// What a simulation is made of: events at times, taken out in their order; those of the same time
/// in the order in which they were put in.
template <class Event>
class event_queue {
public:
    void at(double time, Event e) { queue_.push({time, number_++, e}); }
    bool empty() const { return queue_.empty(); }
    double now() const { return now_; }
    Event next() {
        const entry first = queue_.top();
        queue_.pop();
        now_ = first.time;
        return first.event;
    }

private:
    struct entry {
        double time;
        std::int64_t number;
        Event event;
        bool operator>(const entry& o) const { return time != o.time ? time > o.time : number > o.number; }
    };
    std::priority_queue<entry, std::vector<entry>, std::greater<>> queue_;
    std::int64_t number_ = 0;
    double now_ = 0;
};

} // namespace sinter::profile
