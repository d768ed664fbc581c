// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/profile/distribution/cluster_model.hpp>
#include <sinter/profile/distribution/training_profile.hpp>
#include <algorithm>
#include <vector>

/// The messages by which each algorithm reduces a bucket, as one worker sees them. All workers do
/// the same at the same time, so that one stands for all. That holds where some begin late, too: in
/// a ring, message s of a worker leaves when its own message s - 1 is gone and its neighbour's has
/// come. So n - 1 messages after the slowest worker began nobody is ahead of it, and the last
/// message ends as if all had begun with the slowest.
/// (test/profile/distribution/every_message.cpp simulates all workers' messages, and compares.)
namespace sinter::inline SINTER_TARGET::profile {

/// What a message takes.
struct link {
    double bandwidth, latency;
    double seconds(double bytes) const { return bytes / bandwidth + latency; }
};
inline link network_of(const cluster_model& m) { return {m.bandwidth, m.latency}; }
inline link node_link_of(const cluster_model& m) { return {m.node_bandwidth, m.node_latency}; }

/// Messages in a row over one resource.
struct message_run {
    enum where : std::uint8_t { within_node, network } on = network;
    std::int64_t messages = 0;
    double seconds = 0;   ///< of one message, and of adding what it brought
    double bytes = 0;     ///< of one message
    double all() const { return static_cast<double>(messages) * seconds; }
};

/// A ring's rounds over n members: n - 1 to reduce and scatter, n - 1 to gather, or one of the two.
inline void add_ring(std::vector<message_run>& out, message_run::where on, int n, double part, double seconds,
                     double sum_seconds, bool reduce, bool gather) {
    if (n < 2) return;
    if (reduce) out.push_back({on, n - 1, seconds + sum_seconds, part});
    if (gather) out.push_back({on, n - 1, seconds, part});
}

inline int floor_log2(int n) {
    int k = 0;
    while (n >> (k + 1)) ++k;
    return k;
}

/// `rows`: all gather `bytes` of each; else `bytes` are added up.
inline std::vector<message_run> schedule_of(const cluster_model& m, double bytes, bool rows) {
    const int n = m.workers, g = std::min(m.workers_per_node, n), nodes = m.nodes();
    const link net = network_of(m), node = node_link_of(m);
    std::vector<message_run> out;
    if (n == 1) return out;
    const bool one_node = nodes == 1;
    const auto ring_on = one_node ? message_run::within_node : message_run::network;
    // A ring over several nodes goes at the pace of its slowest link, or at that of a message's way
    // around all links, whichever takes longer: while one message crosses the network, others are
    // within nodes.
    const auto round = [&](double part) {
        if (one_node) return node.seconds(part);
        if (g == 1) return net.seconds(part);
        const double around = nodes * net.seconds(part) + (n - nodes) * node.seconds(part);
        return std::max({part / net.bandwidth, part / node.bandwidth, around / n});
    };
    if (rows) {
        out.push_back({ring_on, n - 1, round(bytes), bytes});
        return out;
    }
    switch (m.algorithm) {
        case reduction_algorithm::halving_doubling: {
            // Workers beyond a power of two hand theirs to another before, and get the sums back.
            const int rounds = floor_log2(n);
            const bool extra = n != 1 << rounds;
            const auto exchange = [&](int distance, double part, bool adds) {
                const bool near = one_node || (2 * distance <= g && g == 1 << floor_log2(g));
                const double shared = near ? part : part * g;   // all of a node at once over its one link
                const double seconds = near ? node.seconds(part) : net.seconds(shared);
                out.push_back({near ? message_run::within_node : message_run::network, 1,
                               seconds + (adds ? part / m.sum_bandwidth : 0), part});
            };
            if (extra) exchange(n, bytes, true);
            for (int k = 0; k < rounds; ++k) exchange(1 << k, bytes / (2 << k), true);
            for (int k = rounds; k-- > 0;) exchange(1 << k, bytes / (2 << k), false);
            if (extra) exchange(n, bytes, false);
            break;
        }
        case reduction_algorithm::hierarchical: {
            const double part = bytes / g, piece = part / nodes;
            add_ring(out, message_run::within_node, g, part, node.seconds(part), part / m.sum_bandwidth, true, false);
            add_ring(out, message_run::network, nodes, piece, net.seconds(piece * g), piece / m.sum_bandwidth, true,
                     true);
            add_ring(out, message_run::within_node, g, part, node.seconds(part), 0, false, true);
            break;
        }
        default: {   // ring; servers have a simulation of their own
            const double part = bytes / n;
            add_ring(out, ring_on, n, part, round(part), part / m.sum_bandwidth, true, true);
        }
    }
    return out;
}

} // namespace sinter::profile
