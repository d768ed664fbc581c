// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE every_message
#include <boost/test/unit_test.hpp>

#include <sinter/profile/distribution/plan.hpp>

/// The plan lets one worker stand for all. Here every worker has its own clock, its own speed and
/// its own links, and every message is sent by itself: written as recurrences over workers, without
/// events. Where all links are alike both must agree to rounding, whoever is slow; over nodes, to
/// what a few messages take.
using namespace sinter;
using namespace sinter::base;
using algorithm = reduction_algorithm;
using clocks = std::vector<double>;

namespace {

struct network {
    int per_node;
    profile::link between, within;
    const profile::link& from(int a, int b) const { return a / per_node == b / per_node ? within : between; }
};

/// A ring's rounds among `who`: a worker sends on when its last message has left and its neighbour's has come.
void ring(clocks& t, const std::vector<int>& who, int rounds, double part, const network& net, double sharing = 1) {
    const std::size_t n = who.size();
    for (int r = 0; r < rounds; ++r) {
        clocks now(n);
        for (std::size_t i = 0; i < n; ++i) {
            const int me = who[i], before = who[(i + n - 1) % n], next = who[(i + 1) % n];
            const auto sent = [&](int a, int b) {
                return t[static_cast<std::size_t>(a)] + sharing * part / net.from(a, b).bandwidth;
            };
            now[i] = std::max(sent(me, next), sent(before, me) + net.from(before, me).latency);
        }
        for (std::size_t i = 0; i < n; ++i) t[static_cast<std::size_t>(who[i])] = now[i];
    }
}
std::vector<int> numbers(int first, int n, int step = 1) {
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(first + i * step);
    return v;
}
void exchange(clocks& t, int a, int b, double bytes, const network& net, double sharing) {
    const profile::link& l = net.from(a, b);
    double &x = t[static_cast<std::size_t>(a)], &y = t[static_cast<std::size_t>(b)];
    x = y = std::max(x, y) + (&l == &net.between ? sharing : 1) * bytes / l.bandwidth + l.latency;
}

void reduce(algorithm a, clocks& t, double bytes, const network& net) {
    const int n = static_cast<int>(t.size()), g = std::min(net.per_node, n), nodes = n / g;
    if (a == algorithm::ring) return ring(t, numbers(0, n), 2 * (n - 1), bytes / n, net);
    if (a == algorithm::hierarchical) {
        for (int k = 0; k < nodes; ++k) ring(t, numbers(k * g, g), g - 1, bytes / g, net);
        for (int i = 0; i < g; ++i) ring(t, numbers(i, nodes, g), 2 * (nodes - 1), bytes / n, net, g);
        for (int k = 0; k < nodes; ++k) ring(t, numbers(k * g, g), g - 1, bytes / g, net);
        return;
    }
    int whole = 1;
    while (2 * whole <= n) whole *= 2;
    for (int i = whole; i < n; ++i) exchange(t, i - whole, i, bytes, net, g);
    for (int distance = 1, part = 2; distance < whole; distance *= 2, part *= 2)
        for (int i = 0; i < whole; ++i)
            if (!(i & distance)) exchange(t, i, i | distance, bytes / part, net, g);
    for (int distance = whole / 2, part = whole; distance; distance /= 2, part /= 2)
        for (int i = 0; i < whole; ++i)
            if (!(i & distance)) exchange(t, i, i | distance, bytes / part, net, g);
    for (int i = whole; i < n; ++i) exchange(t, i - whole, i, bytes, net, g);
}

/// When the last worker has the last bucket.
double all_done(algorithm a, const training_profile& p, const profile::compute_times& c, const clocks& factors,
                const network& net) {
    clocks t(factors.size(), 0);
    for (const auto& b : p.buckets) {
        for (std::size_t i = 0; i < t.size(); ++i)
            t[i] = std::max(t[i], factors[i] * c.ends[static_cast<std::size_t>(b.final_after)]);
        reduce(a, t, b.bytes.at(p.batch), net);
    }
    return *std::max_element(t.begin(), t.end());
}

training_profile some_net(int seed) {
    std::vector<layer_figures> layers;
    for (int i = 0; i < 6; ++i) {
        const auto word = [&](int k) {
            return base::philox_word(7, static_cast<std::uint64_t>(8 * i + k), static_cast<std::uint64_t>(seed)) /
                4294967296.0;
        };
        layers.push_back({1e8 * word(0), 1e6 * word(1), 0});
    }
    return training_profile::of_layers(layers, {.batch = 16, .bucket_bytes = 1});
}

struct both {
    double planned, exact;
};
both of(algorithm a, int n, int per_node, int seed, bool stragglers) {
    const training_profile p = some_net(seed);
    cluster_model m;
    m.workers = n;
    m.workers_per_node = per_node;
    m.algorithm = a;
    m.bandwidth = 3e8 * (1 + seed % 3);
    m.latency = 2e-4 / (1 + seed % 5);
    m.node_bandwidth = 1e10;
    m.node_latency = 1e-6;
    const profile::compute_times c = profile::compute_times_of(p, m, p.batch);
    clocks factors(static_cast<std::size_t>(n), 1);
    double slowest = 1;
    if (stragglers) {
        slowest = 0;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            factors[i] = 1 + 0.5 * base::philox_word(9, i, static_cast<std::uint64_t>(seed)) / 4294967296.0;
            slowest = std::max(slowest, factors[i]);
        }
    }
    const profile::step_times s = profile::simulate_peers(p, m, c, profile::reductions_of(p, m, c, p.batch), slowest);
    return {s.buckets.back().done,
            all_done(a, p, c, factors, {per_node, {m.bandwidth, m.latency}, {m.node_bandwidth, m.node_latency}})};
}
/// Servers, packet by packet: workers send to one server after the other, links take packets as they come, one by one.
struct packet {
    double at, bytes;
    std::size_t bucket;
};
// when each bucket's last packet has come
clocks through(std::vector<packet> packets, double bandwidth, std::size_t buckets) {
    std::stable_sort(packets.begin(), packets.end(), [](const packet& a, const packet& b) { return a.at < b.at; });
    clocks last(buckets, 0);
    double free = 0;
    for (const packet& x : packets)
        last[x.bucket] = std::max(last[x.bucket], free = std::max(free, x.at) + x.bytes / bandwidth);
    return last;
}
both of_servers(int n, int servers, int seed, bool stragglers) {
    const training_profile p = some_net(seed);
    cluster_model m;
    m.workers = n;
    m.servers = servers;
    m.algorithm = algorithm::servers;
    m.bandwidth = 3e8 * (1 + seed % 3);
    m.latency = 2e-4 / (1 + seed % 5);
    if (stragglers) m.delay = {straggler_kind::uniform, 0.5};
    const profile::compute_times c = profile::compute_times_of(p, m, p.batch);
    const auto workers = profile::classes_of(m, 3);
    clocks factors;
    for (const profile::worker_class& k : workers)
        factors.insert(factors.end(), static_cast<std::size_t>(k.workers), k.factor);
    training_profile only = p;
    only.updates.clear();
    const profile::compute_times no_updates = profile::compute_times_of(only, m, p.batch);
    const profile::step_times s =
        profile::simulate_servers(m, no_updates, profile::reductions_of(p, m, c, p.batch), workers);

    constexpr int pieces = 16;
    const std::size_t buckets = p.buckets.size();
    const auto bytes = [&](std::size_t b) { return p.buckets[b].bytes.at(p.batch); };
    std::vector<std::vector<packet>> to_server(static_cast<std::size_t>(servers)), to_worker(factors.size());
    for (std::size_t w = 0; w < factors.size(); ++w) {
        double free = 0;
        for (std::size_t b = 0; b < buckets; ++b) {
            free = std::max(free, factors[w] * c.ends[static_cast<std::size_t>(p.buckets[b].final_after)]);
            for (int k = 0; k < pieces * servers; ++k) {
                const double size = bytes(b) / servers / pieces;
                to_server[(w + static_cast<std::size_t>(k)) % to_server.size()].push_back({free + m.latency, size, b});
                free += size / m.bandwidth;
            }
        }
    }
    for (std::size_t v = 0; v < to_server.size(); ++v) {
        const clocks come = through(to_server[v], m.bandwidth, buckets);
        double free = 0;
        for (std::size_t b = 0; b < buckets; ++b) {
            free = std::max(free, come[b]);
            for (std::size_t k = 0; k < pieces * factors.size(); ++k) {
                const double size = bytes(b) / servers / pieces;
                to_worker[(k + v) % factors.size()].push_back({free + m.latency, size, b});
                free += size / m.bandwidth;
            }
        }
    }
    double last = 0;
    for (const auto& packets : to_worker) last = std::max(last, through(packets, m.bandwidth, buckets).back());
    return {s.buckets.back().done, last};
}
bool near(double a, double b, double relative = 1e-12) { return std::abs(a - b) <= relative * b; }

} // namespace

BOOST_AUTO_TEST_CASE(rings_of_equal_links) {
    for (int n : {2, 3, 5, 8, 33})
        for (int seed = 0; seed < 20; ++seed) {
            const both x = of(algorithm::ring, n, 1, seed, true);
            BOOST_TEST(near(x.planned, x.exact),
                       n << " workers, " << x.planned << " planned, " << x.exact << " by every message");
        }
}
BOOST_AUTO_TEST_CASE(halving_and_doubling) {
    for (int n : {2, 4, 8, 16, 32})
        for (int seed = 0; seed < 20; ++seed) {
            const both x = of(algorithm::halving_doubling, n, 1, seed, true);
            BOOST_TEST(near(x.planned, x.exact), n << " workers");
        }
    // where the slowest is not among those that hand theirs over, the plan is late by that
    for (int n : {3, 5, 6, 7, 11})
        for (int seed = 0; seed < 20; ++seed) {
            const both even = of(algorithm::halving_doubling, n, 1, seed, false),
                x = of(algorithm::halving_doubling, n, 1, seed, true);
            BOOST_TEST(near(even.planned, even.exact), n << " workers");
            BOOST_TEST(x.planned >= x.exact * (1 - 1e-12));
            BOOST_TEST(near(x.planned, x.exact, 0.1));
        }
}
BOOST_AUTO_TEST_CASE(hierarchies) {
    for (int nodes : {1, 2, 3, 6})
        for (int g : {1, 2, 4, 5})
            for (int seed = 0; seed < 10; ++seed) {
                if (nodes * g == 1) continue;
                const both x = of(algorithm::hierarchical, nodes * g, g, seed, true);
                BOOST_TEST(near(x.planned, x.exact), nodes << " nodes of " << g);
            }
}
BOOST_AUTO_TEST_CASE(halving_and_doubling_over_nodes) {
    for (int nodes : {2, 4, 8})
        for (int seed = 0; seed < 10; ++seed) {
            const both x = of(algorithm::halving_doubling, 4 * nodes, 4, seed, true);
            BOOST_TEST(near(x.planned, x.exact), nodes << " nodes");
        }
}
/// A ring through nodes: its links differ, so that messages wait for one another at the slow ones.
BOOST_AUTO_TEST_CASE(rings_over_nodes) {
    for (int nodes : {2, 4, 16})
        for (int seed = 0; seed < 20; ++seed)
            for (bool stragglers : {false, true}) {
                const both x = of(algorithm::ring, 4 * nodes, 4, seed, stragglers);
                BOOST_TEST(near(x.planned, x.exact, 0.02),
                           nodes << " nodes, " << x.planned << " planned, " << x.exact << " by every message");
            }
}
/// Packets wait for packets in a way that the plan does not follow: it takes links to be shared evenly.
BOOST_AUTO_TEST_CASE(parameter_servers) {
    for (int n : {2, 5, 16, 40})
        for (int servers : {1, 2, 7})
            for (int seed = 0; seed < 10; ++seed)
                for (bool stragglers : {false, true}) {
                    const both x = of_servers(n, servers, seed, stragglers);
                    BOOST_TEST(near(x.planned, x.exact, 0.08),
                               n << " workers, " << servers << " servers, " << x.planned << " planned, "
                                                                 << x.exact << " by every packet");
                }
}
