// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/plan.hpp>
#include <sinter/profile/text.hpp>
#include <cmath>
#include <cstdio>

/// Plans as text and as CSV.
namespace sinter::inline SINTER_TARGET::profile {

/// 1, 2, 4, ... and `workers` itself.
inline std::vector<int> worker_counts(int workers) {
    std::vector<int> all;
    for (std::int64_t n = 1; n < workers; n *= 2) all.push_back(static_cast<int>(n));
    all.push_back(workers);
    return all;
}

/// The same cluster with another number of workers, or another algorithm; false where it cannot
/// have that: nodes that are not full, or servers where there are none.
inline bool other_cluster(cluster_model& m, reduction_algorithm a, int workers) {
    m.workers = workers;
    m.algorithm = a;
    if (a == reduction_algorithm::servers) {
        if (m.servers < 1) return false;
        m.sharded_update = false;
    }
    return a != reduction_algorithm::hierarchical || workers <= m.workers_per_node || workers % m.workers_per_node == 0;
}

inline std::string seconds_text(double s) {
    return s >= 1 ? general_text(s, 4) + " s" : s >= 1e-3 ? general_text(s * 1e3, 4) + " ms"
                                                          : general_text(s * 1e6, 4) + " us";
}
inline std::string percent_text(double x) { return fixed_text(100 * x, 1) + " %"; }
inline std::string size_text(double bytes) {
    return bytes < 9e18 ? bytes_text(static_cast<std::int64_t>(bytes)) : "any size";
}
inline std::string rate_text(double per_second, const char* unit) {
    if (std::isinf(per_second)) return "unbounded";
    return short_number(per_second) + (per_second < 999.5 ? " " : "") + unit + "/s";
}

inline constexpr const char* plan_columns =
    "algorithm,workers,servers,batch_per_worker,global_batch,step_seconds,compute_seconds,straggling_seconds,"
    "exposed_seconds,communication_seconds,efficiency,examples_per_second,worker_bytes,server_bytes\n";

inline std::string csv_line(const distribution_plan& d) {
    std::string s(name_of(d.algorithm));
    for (double x : {static_cast<double>(d.workers), static_cast<double>(d.servers), static_cast<double>(d.batch),
                     d.global_batch(), d.step, d.compute, d.straggling, d.exposed, d.communication, d.efficiency,
                     d.examples_per_second(), d.worker_bytes, d.server_bytes})
        s += "," + general_text(x, 9);
    return s + "\n";
}

inline void print_line(const distribution_plan& d, std::FILE* out) {
    std::fprintf(out, "%-17s %8d %10s %10s %10s %10s %10s %8s %12s\n", std::string(name_of(d.algorithm)).c_str(),
                 d.workers, seconds_text(d.step).c_str(), seconds_text(d.compute).c_str(),
                 seconds_text(d.straggling).c_str(), seconds_text(d.exposed).c_str(),
                 seconds_text(d.communication).c_str(), percent_text(d.efficiency).c_str(),
                 short_number(d.examples_per_second()).c_str());
}
inline void print_head(const char* first, std::FILE* out) {
    std::fprintf(out, "%-17s %8s %10s %10s %10s %10s %10s %8s %12s\n", first, "workers", "step", "compute",
                 "straggling", "exposed", "messages", "effic.", "examples/s");
}

inline void print_profile(const training_profile& p, const cluster_model& m, const distribution_plan& d,
                          std::FILE* out) {
    std::fprintf(out, "%s: %zu launches and %zu of updates, %s FLOP; %zu buckets, %s of gradients a step\n",
                 p.name.c_str(), p.launches.size(), p.updates.size(), short_number(p.flops()).c_str(),
                 p.buckets.size(), size_text(p.reduced_bytes()).c_str());
    const std::string speed =
        m.step_seconds > 0 ? "a lone step of " + seconds_text(m.step_seconds)
                           : rate_text(m.flops, "FLOP") + ", memory " + rate_text(m.memory_bandwidth, "B");
    std::fprintf(out, "%d workers, %d a node, batch %d each; %s; links %s, %s", d.workers, m.workers_per_node, d.batch,
                 speed.c_str(), rate_text(m.bandwidth, "B").c_str(), seconds_text(m.latency).c_str());
    if (m.delay.kind != straggler_kind::none)
        std::fprintf(out, "; stragglers %s:%s", std::string(name_of(m.delay.kind)).c_str(),
                     general_text(m.delay.amount, 4).c_str());
    std::fputs("\n\n", out);
}

/// How many buckets are listed one by one.
inline constexpr std::size_t most_listed_buckets = 40;

inline void print_buckets(const training_profile& p, const distribution_plan& d, std::FILE* out) {
    if (d.workers == 1 || p.buckets.empty()) return;
    std::fprintf(out, "\n%6s %10s %12s %12s %12s\n", "bucket", "size", "final", "begun", "reduced");
    for (std::size_t i = 0; i < p.buckets.size() && i < most_listed_buckets; ++i)
        std::fprintf(out, "%6zu %10s %12s %12s %12s\n", i, size_text(p.buckets[i].bytes.at(d.batch)).c_str(),
                     seconds_text(d.buckets[i].final).c_str(), seconds_text(d.buckets[i].begun).c_str(),
                     seconds_text(d.buckets[i].done).c_str());
    if (p.buckets.size() > most_listed_buckets)
        std::fprintf(out, "and %zu more\n", p.buckets.size() - most_listed_buckets);
}

inline void print_memory(const distribution_plan& d, const cluster_model& m, std::FILE* out) {
    std::fprintf(out, "\nmemory of a worker %s%s", size_text(d.worker_bytes).c_str(),
                 d.fits ? "" : (", which has " + size_text(m.memory) + ": it does not fit").c_str());
    if (d.servers) std::fprintf(out, "; of a server %s", size_text(d.server_bytes).c_str());
    std::fputc('\n', out);
}
inline void print_paying(const paying_batch& b, const cluster_model& m, std::FILE* out) {
    if (b.batch == 0) {
        std::fputs("largest batch that pays: none, not even one example fits into a worker's memory\n", out);
        return;
    }
    const std::string why = b.ended_by == paying_batch::memory ? "twice as many do not fit into memory"
                            : b.ended_by == paying_batch::gain
                                ? "twice as many bring less than " + percent_text(m.least_gain) + " more a second"
                                : "more were not tried";
    std::fprintf(out, "largest batch that pays: %d a worker, %.0f in all, %s examples/s, efficiency %s (%s)\n", b.batch,
                 b.plan.global_batch(), short_number(b.plan.examples_per_second()).c_str(),
                 percent_text(b.plan.efficiency).c_str(), why.c_str());
}

} // namespace sinter::profile
