// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/client.hpp>
#include <sinter/parameter_server/server.hpp>
#include <atomic>
#include <cmath>
#include <numeric>
#include <sstream>
#include "../net/processes.hpp"

/// Parameter servers and their workers as real processes, and an optimizer whose sums are exact.
namespace sinter::server_job {

using namespace sinter::parameter_servers;

/// p += g: of whole numbers, whatever the order.
class adding : public updater {
public:
    int scalars() const override { return 1; }
    int slots(int) const override { return 0; }
    void first_slot(int, int, float*, const float*, std::int64_t) const override {}
    norm_need needs() const override { return norm_need::none; }
    void update(int, float* p, const float* g, float*, std::int64_t, std::int64_t n, const float*,
                float) const override {
        for (std::int64_t i = 0; i < n; ++i) p[i] += g[i];
    }
    void update_rows(int, float* table, float*, std::int64_t, const row_list& list, const float*,
                     float) const override {
        for (int k = 0; k < list.size(); ++k)
            for (int i = 0; i < list.row_floats; ++i)
                table[std::int64_t{list.key(k)} * list.row_floats + i] += list.row(k)[i];
    }
};

/// What all processes of a job agree upon.
struct job {
    int servers = 1, workers = 2;
    std::int64_t floats = 4096;   ///< of each server
    update_order order = {};
    cluster_options options = quick(5);
    std::vector<std::string> at = own_addresses(16);   ///< of the workers, then of the servers
    std::int64_t rows = 0;        ///< of each server's table; 0: it has none
    int replicas = 1;
    bool clips = false;

    cluster as(cluster_role role, int index) const {
        std::vector<cluster_member> all;
        for (int i = 0; i < workers + servers; ++i) {
            const auto [host, port] = wire::parse_address(at[static_cast<std::size_t>(i)], "test");
            const bool works = i < workers;
            all.push_back({works ? cluster_role::worker : cluster_role::ps, works ? i : i - workers, host, port});
        }
        return cluster(all, role, index, options);
    }
    cluster worker(int i) const { return as(cluster_role::worker, i); }
    /// For clipping by the norm of all gradients each server's floats are a tensor of their own, and the last one is a
    /// table of which each has rows.
    std::vector<shard_layout> layout() const {
        shard_layout s;
        s.floats = floats;
        s.runs = {{.first = 0, .floats = floats, .group = 0, .tensor = -1}};
        if (rows)
            s.tables = {{.name = "table", .rows = rows, .row_floats = 16, .group = 0, .tensor = clips ? servers : -1}};
        std::vector<shard_layout> all(static_cast<std::size_t>(servers), s);
        for (int i = 0; clips && i < servers; ++i) all[static_cast<std::size_t>(i)].runs[0].tensor = i;
        return all;
    }
    wire::identity identity() const { return {.model = 1, .layout = hash_of(layout()), .policy = 3}; }

    /// The work of server i: until all have left. What it has counted, as numbers.
    template <class Updater = adding>
    std::string serve(int i, server_options with = {}) const {
        with.order = order;
        with.replicas = replicas;
        if (clips) with.parameters = servers + 1;
        if (replicas == 2)
            with.other = std::make_shared<other_shard>(
                other_shard{layout()[static_cast<std::size_t>((i + servers - 1) % servers)],
                            std::make_unique<Updater>(), {}});
        server s(as(cluster_role::ps, i), identity(), layout()[static_cast<std::size_t>(i)],
                 std::make_unique<Updater>(), [](std::int64_t, float, float* to) { *to = 0; }, std::move(with));
        s.run();
        std::ostringstream out;
        out << "step " << s.global_step();
        for (const worker_counters& w : s.counters())
            out << " worker " << w.applied << ' ' << w.dropped << ' ' << w.repeated << ' ' << w.torn;
        return out.str();
    }
    /// Zeros everywhere, and the job is open.
    void begin(client& c, std::int64_t max_steps = 0) const {
        const std::vector<float> zeros(static_cast<std::size_t>(std::max(floats, rows * 16)));
        if (!c.initialised())
            for (int s = 0; s < servers; ++s) {
                c.write(s, client::parameters, 0, {zeros.data(), static_cast<std::size_t>(floats)});
                if (rows)
                    c.write_rows(s, 0, client::parameters, 0, {zeros.data(), static_cast<std::size_t>(rows * 16)});
            }
        c.open(max_steps);
    }
};

/// Memory that the processes of a test share.
struct shared_counts {
    static constexpr int most = 16;
    std::atomic<std::int64_t> begun[most]{}, acknowledged[most]{};   // pushes of each worker, in all its lives
    std::atomic<bool> enough{false};
    std::atomic<std::int64_t> other[most]{};
    static shared_counts& make() { return in_shared_memory<shared_counts>(); }
};

/// Pushes ones to all floats of all servers, in three parts, and waits until they are acknowledged.
class pusher {
public:
    pusher(client& c, const job& j, int me) : c_(c), j_(j), me_(me), ones_(static_cast<std::size_t>(j.floats), 1.f) {}
    void push(shared_counts& counts, span<const pull_target> to = {}) {
        ++counts.begun[me_];
        c_.begin_push();
        const std::int64_t third = j_.floats / 48 * 16;
        for (const std::int64_t first : {2 * third, third, std::int64_t{0}}) {   // the last layer's come first
            const std::int64_t end = first == 2 * third ? j_.floats : first + third;
            for (int s = 0; s < j_.servers; ++s)
                c_.push(s, first, span<const float>(ones_.data() + first, static_cast<std::size_t>(end - first)));
        }
        c_.wait(c_.commit({.loss = 1}, to));
        ++counts.acknowledged[me_];
    }

private:
    client& c_;
    const job& j_;
    int me_;
    std::vector<float> ones_;
};

/// The value that all floats of a server have; -1: they differ, so that a push was applied in part.
inline float common_value(client& c, const job& j, int server) {
    std::vector<float> all(static_cast<std::size_t>(j.floats));
    c.read(server, client::parameters, 0, all);
    for (const float x : all)
        if (x != all[0]) return -1;
    return all[0];
}

/// The common value of each server's floats.
inline std::string values_of(client& c, const job& j) {
    std::string text = "values";
    for (int s = 0; s < j.servers; ++s) text += ' ' + std::to_string(static_cast<std::int64_t>(common_value(c, j, s)));
    return text;
}

/// Worker w's part: `pushes` pushes with a pause behind each. The first begins the job, and at the
/// end says tell(client, job) once all pushes are made; the others tell that they left.
template <class Tell = std::string (&)(client&, const job&)>
std::string work(const job& j, int w, int pushes, shared_counts& counts, double pause = 0, client_options with = {},
                 Tell tell = values_of) {
    client c(j.worker(w), j.identity(), j.layout(), with);
    if (w == 0) j.begin(c);
    c.wait_until_open();
    pusher mine(c, j, w);
    std::vector<std::vector<float>> got(static_cast<std::size_t>(j.servers),
                                        std::vector<float>(static_cast<std::size_t>(j.floats)));
    std::vector<pull_target> to;
    for (auto& g : got) to.push_back({g.data()});
    for (int k = 0; k < pushes; ++k) {
        if (!c.may_step()) return "told to stop: " + c.stop_reason();
        mine.push(counts, to);
        for (const auto& g : got)
            for (const float x : g)
                if (x != std::floor(x) || x < static_cast<float>(j.order.mode == update_mode::async ? k + 1 : 0))
                    return "WRONG DATA";
        if (pause > 0) ::usleep(static_cast<useconds_t>(pause * 1e6));
    }
    std::string text = "left";
    if (w == 0) {   // others may be yet to come, or taken for dead while they dial again
        c.rest();   // others that came later have later clocks
        const auto missing = [&] {
            for (int i = 0; i < j.workers; ++i)
                if (counts.acknowledged[i] < pushes) return true;
            return false;
        };
        for (int i = 0; i < 60000 && missing(); ++i) ::usleep(1000);
        c.wait_for_others();
        text = tell(c, j);
    }
    c.leave();
    return text;
}

/// A job's processes; what each says when it is over.
class running {
public:
    running(processes& p, job j, int pushes, double pause = 0)
        : p_(p), j_(std::move(j)), pushes_(pushes), counts_(shared_counts::make()) {
        for (int s = 0; s < j_.servers; ++s) servers.push_back(p.start([this, s] { return j_.serve(s); }));
        for (int w = 0; w < j_.workers; ++w)
            workers.push_back(p.start([this, w, pause] { return work(j_, w, pushes_, counts_, pause); }));
    }
    /// What went wrong; empty: every push of every worker is in every float, once.
    std::string trouble(double within = 60) {
        const std::int64_t all = std::int64_t{pushes_} * j_.workers;
        std::string text = "values";
        for (int s = 0; s < j_.servers; ++s) text += ' ' + std::to_string(all);
        std::string found;
        for (int w = 0; w < j_.workers; ++w)
            if (const std::string r = p_.result(workers[static_cast<std::size_t>(w)], within);
                r != (w == 0 ? text : "left"))
                found += "worker " + std::to_string(w) + ": " + r + "; ";
        for (int s = 0; s < j_.servers; ++s)
            if (const std::string r = p_.result(servers[static_cast<std::size_t>(s)], within);
                !holds(r, "step " + std::to_string(all) + " "))
                found += "server " + std::to_string(s) + ": " + r + "; ";
        return found;
    }
    std::int64_t pushed(int w) const { return counts_.acknowledged[w]; }
    void wait_for(int w, std::int64_t pushes) const {
        for (int i = 0; i < 100000 && counts_.acknowledged[w] < pushes; ++i) ::usleep(1000);
    }
    std::vector<int> servers, workers;

private:
    processes& p_;
    job j_;
    int pushes_;
    shared_counts& counts_;
};

} // namespace sinter::server_job
