// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/simulate_step.hpp>

/// A step with parameter servers, which wait for all workers. Each bucket is cut over all servers,
/// so that one server stands for all; workers that are alike are one sender of several messages.
namespace sinter::inline SINTER_TARGET::profile {

/// `t`: the lone worker's step. Servers update what they have with the same memory bandwidth, so
/// that S of them need 1/S of its time, bucket by bucket.
inline step_times simulate_servers(const cluster_model& m, const compute_times& t,
                                   const std::vector<reduction>& all, const std::vector<worker_class>& workers) {
    struct event {
        enum kind : std::uint8_t { final, first_bytes, received, updated, returned } what;
        std::size_t bucket, sender;
    };
    struct sender {   // when its link is free
        double free = 0;
    };
    const double shared = m.workers_per_node > 1 ? std::min(m.workers_per_node, m.workers) : 1;
    const double sending = m.bandwidth / shared;   // of one worker, all of whose node send at once
    const auto part = [&](std::size_t i) { return all[i].bytes / m.servers; };
    step_times s;
    s.buckets.resize(all.size());
    std::vector<int> come(all.size(), 0);
    double in_free = 0, out_free = 0, update_free = 0, last = 0, reduced = 0;
    for (const reduction& b : all) reduced += b.bytes;
    event_queue<event> queue;
    const double slowest = workers.back().factor;
    for (std::size_t w = 0; w < workers.size(); ++w)
        for (std::size_t i = 0; i < all.size(); ++i) queue.at(workers[w].factor * all[i].final, {event::final, i, w});
    std::vector<sender> senders(workers.size());
    while (!queue.empty()) {
        const event e = queue.next();
        const double now = last = queue.now();
        const std::size_t i = e.bucket;
        const double count = workers[e.sender].workers;
        switch (e.what) {
            case event::final: {   // buckets leave a worker in their order, over its one link
                sender& w = senders[e.sender];
                const double begin = std::max(now, w.free);
                w.free = begin + all[i].bytes / sending;
                s.buckets[i].final = std::max(s.buckets[i].final, now);
                if (s.buckets[i].begun == 0) s.buckets[i].begun = begin;
                queue.at(begin + m.latency, {event::first_bytes, i, e.sender});
                break;
            }
            case event::first_bytes: {   // the server's link takes them as they come, and no faster than they were sent
                const double here = count * part(i) / m.bandwidth, sent = all[i].bytes / sending;
                in_free = std::max(in_free, now) + here;
                s.busy += here;
                queue.at(std::max(in_free, now + sent) + count * part(i) / m.sum_bandwidth,
                         {event::received, i, e.sender});
                break;
            }
            case event::received: {
                if ((come[i] += workers[e.sender].workers) < m.workers) break;
                const double share = reduced > 0 ? all[i].bytes / reduced : 0;
                update_free = std::max(update_free, now) + share * t.updates / m.servers;
                queue.at(update_free, {event::updated, i, e.sender});
                break;
            }
            case event::updated: {
                const double leaving = m.workers * part(i) / m.bandwidth;
                out_free = std::max(out_free, now) + std::max(leaving, all[i].bytes / sending);
                s.busy += leaving;
                queue.at(out_free + m.latency, {event::returned, i, e.sender});
                break;
            }
            case event::returned: s.buckets[i].done = now; break;
        }
    }
    s.gradients = slowest * t.gradients();
    s.slowest = s.gradients;
    s.step = std::max(last, s.gradients);
    return s;
}

} // namespace sinter::profile
