// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/simulate_servers.hpp>

/// What a step takes on a cluster, and what of it is lost to whom.
namespace sinter::inline SINTER_TARGET {

/// Seconds are means over the simulated steps, where there are stragglers. compute + straggling +
/// exposed = step.
struct distribution_plan {
    reduction_algorithm algorithm = reduction_algorithm::ring;
    int workers = 1, servers = 0, batch = 0;   ///< batch: of one worker
    double step = 0;
    double lone = 0;          ///< the step of one worker that waits for nobody, with the same batch
    double compute = 0;       ///< what a worker computes in a step
    double straggling = 0;    ///< by how much longer the slowest computes
    double exposed = 0;       ///< waiting for messages while nothing is computed
    double communication = 0; ///< seconds in which messages are under way, hidden or not
    double efficiency = 0;    ///< lone / step
    double worker_bytes = 0, server_bytes = 0;   ///< of memory
    bool fits = true;         ///< into cluster_model::memory
    std::vector<profile::bucket_times> buckets;  ///< of a step in which the slowest worker is the median one

    double global_batch() const { return static_cast<double>(workers) * batch; }
    double examples_per_second() const { return step > 0 ? global_batch() / step : 0; }
};

namespace profile {

/// Bytes that a worker needs for what others send: one message of the largest bucket; of lists of
/// rows, everybody's.
inline double message_bytes(const training_profile& p, const cluster_model& m, double batch) {
    double most = 0;
    for (const auto& b : p.buckets) {
        const double bytes = b.bytes.at(batch);
        if (b.rows) most = std::max(most, bytes * (m.workers - 1));
        else if (m.algorithm == reduction_algorithm::servers) most = std::max(most, m.workers > 1 ? bytes : 0);
        else
            for (const message_run& r : schedule_of(m, bytes, false)) most = std::max(most, r.bytes);
    }
    return most;
}

inline void put_memory(distribution_plan& d, const training_profile& p, const cluster_model& m) {
    const bool served = m.algorithm == reduction_algorithm::servers;
    const double slots = served ? 0 : m.sharded_update ? p.slot_bytes / m.workers : p.slot_bytes;
    d.worker_bytes = p.parameter_bytes + slots + p.gradient_bytes + p.state_bytes + p.scratch_bytes +
                     p.activation_bytes.at(d.batch) + message_bytes(p, m, d.batch);
    if (served) d.server_bytes = (p.parameter_bytes + p.slot_bytes + 2 * p.gradient_bytes) / m.servers;
    d.fits = d.worker_bytes <= m.memory;
}

/// A step that was measured with one batch says what operations take with another.
inline cluster_model with_measured_rates(const training_profile& p, cluster_model m) {
    if (m.step_seconds == 0) return m;
    const double batch = m.batch ? m.batch : p.batch, measured = m.step_seconds;
    m.step_seconds = 0;
    const double scale = compute_times_of(p, m, batch).all() / measured;
    m.flops *= scale, m.memory_bandwidth *= scale, m.launch_seconds /= scale;
    return m;
}

} // namespace profile

/// Simulates a step of `p` on `m`. Throws option_error where a figure cannot be used. Where
/// gradients are accumulated, all figures are means over the steps of a round.
inline distribution_plan plan_distribution(const training_profile& given, const cluster_model& m) {
    given.check();
    m.check();
    const training_profile p = m.bucket_bytes > 0 ? given.with_buckets_of(m.bucket_bytes) : given;
    distribution_plan d;
    d.algorithm = m.algorithm;
    d.workers = m.workers;
    d.servers = m.algorithm == reduction_algorithm::servers ? m.servers : 0;
    d.batch = m.batch ? m.batch : p.batch;
    const profile::compute_times t = profile::compute_times_of(p, m, d.batch);
    const auto reductions = profile::reductions_of(p, m, t, d.batch);
    const int samples = m.delay.kind == straggler_kind::none ? 1 : m.samples;
    const double rounds = p.every;
    double slowest = 0;
    for (int k = 0; k < samples; ++k) {
        const auto workers = profile::classes_of(m, k);
        const double factor = workers.back().factor;
        profile::step_times s = m.algorithm == reduction_algorithm::servers && m.workers > 1
                                    ? profile::simulate_servers(m, t, reductions, workers)
                                    : profile::simulate_peers(p, m, t, reductions, factor);
        d.step += ((rounds - 1) * factor * t.gradients() + s.step) / rounds / samples;
        slowest += ((rounds - 1) * factor * t.gradients() + s.slowest) / rounds / samples;
        d.communication += s.busy / rounds / samples;
        if (k == samples / 2) d.buckets = std::move(s.buckets);
    }
    const bool served = m.algorithm == reduction_algorithm::servers && m.workers > 1;
    const double updates = served ? 0 : m.sharded_update ? t.updates / m.workers : t.updates;
    d.lone = t.gradients() + t.updates / rounds;
    d.compute = t.gradients() + updates / rounds;
    d.straggling = slowest - d.compute;
    d.exposed = d.step - slowest;
    d.efficiency = d.step > 0 ? d.lone / d.step : 1;
    profile::put_memory(d, p, m);
    return d;
}

/// The largest batch of a worker that pays: batches are doubled from 1 on, as long as a worker's
/// memory holds them and a doubling brings the cluster at least `least_gain` (0.05) more progress a
/// second. Progress is examples a second where critical_batch is infinite. Else it is examples a
/// second over 1 + B / critical_batch, B the global batch: the law of McCandlish et al., "An
/// Empirical Model of Large-Batch Training" (2018), by which a batch of B needs 1 + critical_batch
/// / B times as many steps as the largest.
struct paying_batch {
    int batch = 0;   ///< of one worker; 0: not even one example fits
    enum reason : std::uint8_t { memory, gain, limit } ended_by = gain;
    distribution_plan plan;
};
inline paying_batch batch_that_pays(const training_profile& p, const cluster_model& given, int most = 1 << 20) {
    cluster_model m = profile::with_measured_rates(p, given);
    const auto progress = [&](const distribution_plan& d) {
        return d.examples_per_second() / (1 + d.global_batch() / m.critical_batch);
    };
    paying_batch best;
    best.ended_by = paying_batch::limit;
    for (int b = 1; b <= most; b *= 2) {
        m.batch = b;
        const distribution_plan d = plan_distribution(p, m);
        if (!d.fits) {
            best.ended_by = paying_batch::memory;
            break;
        }
        if (best.batch && !(progress(d) >= (1 + m.least_gain) * progress(best.plan))) {
            best.ended_by = paying_batch::gain;
            break;
        }
        best.batch = b;
        best.plan = d;
    }
    return best;
}

} // namespace sinter
