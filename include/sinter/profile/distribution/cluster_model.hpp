// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/decimal.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

/// The machines that a plan is made for.
namespace sinter::inline SINTER_TARGET {

/// How gradients are added up over workers. Each works on whole buckets, one after the other.
enum class reduction_algorithm : std::uint8_t {
    ring,               ///< 2 (n - 1) messages of 1/n of a bucket, to the next worker
    halving_doubling,   ///< 2 log2 n messages of 1/2, 1/4, ... of a bucket, to workers at distance 1, 2, ...
    hierarchical,       ///< rings within nodes and one between nodes for each part of a bucket
    servers,            ///< each bucket is cut over all servers; they update, and send parameters back
};

/// How much longer than the usual a worker computes in a step: a factor, drawn anew for each worker
/// and step.
enum class straggler_kind : std::uint8_t {
    none,          ///< 1
    uniform,       ///< 1 to 1 + amount
    exponential,   ///< 1 and an exponential one of mean `amount`
    lognormal,     ///< exp(amount z), z normal: median 1
    pareto,        ///< at least 1, longer than x with probability x^-amount
};
/// How much longer than usual some steps of a worker take.
struct stragglers {
    straggler_kind kind = straggler_kind::none;
    double amount = 0;
    bool operator==(const stragglers&) const = default;
};

/// Rates are those that are reached, not those of a data sheet: FLOP/s of kernels, bytes/s of
/// payload. Each link is full duplex.
struct cluster_model {
    int workers = 1;
    int workers_per_node = 1;       ///< they share the node's link to the network
    int servers = 0;                ///< of reduction_algorithm::servers, each with a link of its own
    reduction_algorithm algorithm = reduction_algorithm::ring;

    double flops = 1e11;            ///< operations a second of one worker
    double memory_bandwidth = std::numeric_limits<double>::infinity();   ///< bytes a second that kernels move
    double launch_seconds = 0;      ///< that each launch takes besides
    double step_seconds = 0;        ///< a lone worker's step as measured; then rates only say how it is shared out

    double bandwidth = 1.25e8;      ///< bytes a second of a node's link to the network, each way
    double latency = 50e-6;         ///< seconds from sending a message to its arrival, without its length
    double node_bandwidth = 0;      ///< the same between workers of a node: needed where nodes have several
    double node_latency = 0;
    double sum_bandwidth = std::numeric_limits<double>::infinity();   ///< bytes a second that are added to others

    stragglers delay{};
    int samples = 32;               ///< steps that are simulated where there are stragglers
    std::uint64_t seed = 1;

    int batch = 0;                  ///< examples of a worker; 0: the profile's
    double bucket_bytes = 0;        ///< neighbouring buckets are joined up to this; 0: as the program has them
    bool overlap = true;            ///< false: reductions begin when all gradients are final
    bool sharded_update = false;    ///< each worker updates its part, and keeps the optimizer's memory of that alone
    double memory = std::numeric_limits<double>::infinity();   ///< bytes that a worker has
    double critical_batch = std::numeric_limits<double>::infinity();   ///< see batch_that_pays()
    double least_gain = 0.05;       ///< likewise

    int nodes() const { return (workers + workers_per_node - 1) / workers_per_node; }
    bool operator==(const cluster_model&) const = default;

    /// Throws option_error with the first field that cannot be used.
    void check() const;
    /// "workers=64 flops=1T bandwidth=25Gbit/s latency=20us": see doc/planning.md. Throws
    /// format_error, or option_error where a value is out of range (cluster_text.hpp).
    static cluster_model parse(std::string_view text);
};

inline constexpr int most_planned_workers = 1'000'000;

inline std::string_view name_of(reduction_algorithm a) {
    constexpr std::string_view names[] = {"ring", "halving_doubling", "hierarchical", "servers"};
    return names[static_cast<int>(a)];
}
inline std::string_view name_of(straggler_kind k) {
    constexpr std::string_view names[] = {"none", "uniform", "exponential", "lognormal", "pareto"};
    return names[static_cast<int>(k)];
}

inline void cluster_model::check() const {
    const auto within = [](const char* field, double x, double low, double high) {
        if (x >= low && x <= high) return;
        throw option_error("value that cannot be used", std::string("cluster model, ") + field,
                           base::general_text(x, 17),
                           base::general_text(low, 6) + " to " + base::general_text(high, 6));
    };
    constexpr double most = std::numeric_limits<double>::infinity();
    within("workers", workers, 1, most_planned_workers);
    within("workers_per_node", workers_per_node, 1, most_planned_workers);
    within("servers", servers, algorithm == reduction_algorithm::servers ? 1 : 0, most_planned_workers);
    within("flops", flops, 1, most);
    within("memory_bandwidth", memory_bandwidth, 1, most);
    within("launch_seconds", launch_seconds, 0, 1e6);
    within("step_seconds", step_seconds, 0, 1e9);
    within("bandwidth", bandwidth, 1, most);
    within("latency", latency, 0, 1e6);
    within("node_bandwidth", node_bandwidth, workers_per_node > 1 ? 1 : 0, most);
    within("node_latency", node_latency, 0, 1e6);
    within("sum_bandwidth", sum_bandwidth, 1, most);
    within("samples", samples, 1, 100'000);
    within("batch", batch, 0, 1e9);
    within("bucket_bytes", bucket_bytes, 0, most);
    within("memory", memory, 1, most);
    within("critical_batch", critical_batch, 1, most);
    within("least_gain", least_gain, 0, 1);
    constexpr double highest[] = {0, 1e6, 1e6, 10, 1e6};   // of a straggler's amount
    const auto kind = static_cast<int>(delay.kind);
    within("straggler", delay.amount, delay.kind == straggler_kind::pareto ? 1.01 : 0, highest[kind]);
    if (algorithm == reduction_algorithm::hierarchical && workers > workers_per_node && workers % workers_per_node)
        throw option_error("nodes that are not full", "cluster model, workers", std::to_string(workers),
                           "a multiple of workers_per_node, " + std::to_string(workers_per_node) +
                               ", for algorithm=hierarchical");
    if (algorithm == reduction_algorithm::servers && sharded_update)
        throw option_error("update by workers", "cluster model, sharded_update", "yes", "no, since servers update");
}

} // namespace sinter
