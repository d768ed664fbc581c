// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/event_queue.hpp>
#include <sinter/profile/distribution/schedule.hpp>
#include <sinter/profile/distribution/straggler_times.hpp>

/// One training step, event by event: launches end, buckets become final, messages arrive.
namespace sinter::inline SINTER_TARGET::profile {

/// A lone worker's step: when each launch ends, and how long updates take.
struct compute_times {
    std::vector<double> ends;
    double updates = 0;
    double gradients() const { return ends.back(); }
    double all() const { return gradients() + updates; }
};

inline compute_times compute_times_of(const training_profile& p, const cluster_model& m, double batch) {
    const auto seconds = [&](const training_profile::work& w, double b) {
        return std::max(w.flops.at(b) / m.flops, w.bytes.at(b) / m.memory_bandwidth) + m.launch_seconds;
    };
    const auto total = [&](double b) {
        double sum = 0;
        for (const auto& w : p.launches) sum += seconds(w, b);
        for (const auto& w : p.updates) sum += seconds(w, b);
        return sum;
    };
    double scale = 1;   // a measured step is that of the batch that is planned, or else of the profile's
    if (m.step_seconds > 0) {
        const double modelled = total(m.batch ? m.batch : p.batch);
        if (!(modelled > 0))
            throw option_error("step without work, which cannot be scaled", "cluster model, step_seconds",
                               "launches that take no time", "flops and bandwidths that are finite");
        scale = m.step_seconds / modelled;
    }
    compute_times t;
    double now = 0;
    for (const auto& w : p.launches) t.ends.push_back(now += scale * seconds(w, batch));
    for (const auto& w : p.updates) t.updates += scale * seconds(w, batch);
    return t;
}

/// When a bucket was final, and when it was reduced.
struct bucket_times {
    double final = 0, begun = 0, done = 0;
};

struct step_times {
    double step = 0;            ///< of the slowest worker, from the first launch to the last update
    double slowest = 0;         ///< its computation
    double gradients = 0;       ///< when its last gradient was final
    double busy = 0;            ///< seconds in which messages were under way
    std::vector<bucket_times> buckets;
};

/// Buckets of a step, in their order; the small reduction of loss and flags is the last.
struct reduction {
    double bytes, final;
    bool rows;
};
inline std::vector<reduction> reductions_of(const training_profile& p, const cluster_model& m, const compute_times& t,
                                            double batch) {
    std::vector<reduction> all;
    const auto launch_end = [&](int i) { return m.overlap ? t.ends[static_cast<std::size_t>(i)] : t.gradients(); };
    for (const auto& b : p.buckets) all.push_back({b.bytes.at(batch), launch_end(b.final_after), b.rows});
    if (p.status_bytes > 0) all.push_back({p.status_bytes, t.gradients(), false});
    return all;
}

/// Workers that exchange messages among themselves, one bucket after the other in the same order
/// everywhere. `factor`: of the slowest.
inline step_times simulate_peers(const training_profile& p, const cluster_model& m, const compute_times& t,
                                 const std::vector<reduction>& all, double factor) {
    struct event {
        enum kind : std::uint8_t { final, messages_done } what;
        std::size_t bucket;
    };
    step_times s;
    s.buckets.resize(all.size());
    event_queue<event> queue;
    std::vector<message_run> runs;   // of the bucket that is being reduced
    std::size_t run = 0, current = 0;
    bool busy = false;
    std::vector<bool> ready(all.size(), false);
    const auto send = [&] { queue.at(queue.now() + runs[run].all(), {event::messages_done, current}); };
    const auto serve = [&] {
        while (!busy && current < all.size() && ready[current]) {
            s.buckets[current].begun = s.buckets[current].done = queue.now();
            runs = schedule_of(m, all[current].bytes, all[current].rows);
            if (m.sharded_update && !all[current].rows) runs.resize(runs.size() / 2);   // no more than scattered
            run = 0;
            if (runs.empty()) ++current;
            else busy = true, send();
        }
    };
    for (std::size_t i = 0; i < all.size(); ++i) queue.at(factor * all[i].final, {event::final, i});
    double last = 0;
    while (!queue.empty()) {
        const event e = queue.next();
        last = queue.now();
        if (e.what == event::final) {
            ready[e.bucket] = true;
            s.buckets[e.bucket].final = last;
        } else {
            s.busy += runs[run].all();
            if (++run < runs.size()) {
                send();
                continue;
            }
            s.buckets[current++].done = last;
            busy = false;
        }
        serve();
    }
    s.gradients = factor * t.gradients();
    const double updates = factor * (m.sharded_update ? t.updates / m.workers : t.updates);
    s.slowest = s.gradients + updates;
    s.step = std::max(last, s.gradients) + updates;
    if (!m.sharded_update) return s;
    runs = schedule_of(m, p.parameter_bytes, false);   // new parameters, gathered from all
    for (std::size_t i = runs.size() / 2; i < runs.size(); ++i) s.step += runs[i].all(), s.busy += runs[i].all();
    return s;
}

} // namespace sinter::profile
