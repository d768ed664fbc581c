// SPDX-License-Identifier: BSL-1.0
// peers: distributed
// How many steps a second workers take that push to parameter servers and pull from them: starts
// all as processes of this machine, and prints one JSON line.
#include <sinter/parameter_server/client.hpp>
#include <sinter/parameter_server/server.hpp>

#include "collective/raw_ring.hpp"
#include "local_cluster.hpp"
#include "parameter_server/job.hpp"
#include "parameter_server/plain_sockets.hpp"
#include "processes.hpp"

using namespace sinter;
using namespace sinter::bench;

static const char* const help =
    "parameter_server [--servers S] [--workers W] [--what rows|dense] [--dim D] [--rows N] [--table ROWS]\n"
    "                 [--seconds T] [--system sinter|raw] [--key K] [--mode async|stale:S|sync:BACKUP]\n"
    "                 [--compute MS] [--slower F]\n"
    "A step pushes the gradient of N different rows of D floats and pulls N others; dense: of a vector of D floats.\n"
    "  --system  raw: plain sockets, without frames, checks or numbers\n"
    "  --key     a secret: each frame has a MAC; without, a checksum\n"
    "  --mode    when a push becomes an update: at once (the default), by clocks that may be S apart, or of all\n"
    "            workers but BACKUP\n"
    "  --compute a step's pause in milliseconds; the last worker's is F times as long, and is not counted";

static int time_plain_sockets(const server_job& j, tally& t) {
    std::vector<std::vector<int>> of_server(static_cast<std::size_t>(j.servers)),
        of_worker(static_cast<std::size_t>(j.workers));
    for (auto& s : of_server)
        for (auto& w : of_worker) {
            const auto [a, b] = connected_sockets();
            s.push_back(a);
            w.push_back(b);
        }
    return in_processes(j.servers + j.workers, [&](int r) {
        if (r < j.servers) plain_sockets::serve(j, r, of_server[static_cast<std::size_t>(r)]);
        else plain_sockets::work(j, t, r - j.servers, of_worker[static_cast<std::size_t>(r - j.servers)]);
    });
}

namespace {

/// Plain descent: what ps-lite's server and that of plain sockets do, too.
class descent : public parameter_servers::updater {
public:
    int scalars() const override { return 1; }
    int slots(int) const override { return 0; }
    void first_slot(int, int, float*, const float*, std::int64_t) const override {}
    parameter_servers::norm_need needs() const override { return parameter_servers::norm_need::none; }
    void update(int, float* p, const float* g, float*, std::int64_t, std::int64_t n, const float* rate,
                float) const override {
        for (std::int64_t i = 0; i < n; ++i) p[i] -= *rate * g[i];
    }
    void update_rows(int, float* table, float*, std::int64_t, const row_list& rows, const float* rate,
                     float) const override {
        for (int k = 0; k < rows.size(); ++k) {
            float* const to = table + std::int64_t{rows.key(k)} * rows.row_floats;
            for (int i = 0; i < rows.row_floats; ++i) to[i] -= *rate * rows.row(k)[i];
        }
    }
};

/// Servers and workers of Sinter; `worker/0` makes the first values.
class sinter_job {
public:
    sinter_job(const server_job& j, tally& t, const std::string& key, parameter_servers::update_order order)
        : j_(j), t_(t), order_(order), at_(loopback_addresses(j.workers + j.servers)) {
        options_.job = "parameter_server";
        options_.key = key;
        options_.insecure = true;
        for (int s = 0; s < j.servers; ++s) {
            parameter_servers::shard_layout l;
            if (j.dense()) {
                l.floats = (j.held_by(s) + 15) / 16 * 16;
                l.runs = {{.first = 0, .floats = l.floats, .group = 0, .tensor = -1}};
            } else {
                l.tables = {{.name = "table", .rows = j.held_by(s), .row_floats = static_cast<int>(j.dim), .group = 0}};
            }
            layout_.push_back(l);
        }
    }
    void serve(int s) const {
        parameter_servers::server_options with;
        with.order = order_;
        parameter_servers::server server(
            as(j_.workers + s), identity(), layout_[static_cast<std::size_t>(s)], std::make_unique<descent>(),
            [](std::int64_t, float, float* rate) { *rate = 0.01f; }, std::move(with));
        server.run();
    }
    void work(int w) const {
        parameter_servers::client c(as(w), identity(), layout_);
        if (w == 0) {
            const std::vector<float> zeros(1 << 20);
            for (int s = 0; s < j_.servers; ++s) {   // stretch by stretch
                const std::int64_t floats = layout_[static_cast<std::size_t>(s)].floats, most = std::int64_t{1} << 20;
                for (std::int64_t f = 0; f < floats; f += most)
                    c.write(s, parameter_servers::client::parameters, f,
                            {zeros.data(), static_cast<std::size_t>(std::min(most, floats - f))});
                const std::int64_t rows = j_.dense() ? 0 : j_.held_by(s), rows_at_once = most / j_.dim;
                for (std::int64_t r = 0; r < rows; r += rows_at_once)
                    c.write_rows(s, 0, parameter_servers::client::parameters, r,
                                 {zeros.data(), static_cast<std::size_t>(std::min(rows_at_once, rows - r) * j_.dim)});
            }
            c.open(0);
        }
        c.wait_until_open();
        if (j_.dense()) step_dense(c, w);
        else step_rows_of(c, w);
        c.leave();
    }

private:
    const server_job& j_;
    tally& t_;
    parameter_servers::update_order order_;
    std::vector<std::string> at_;
    cluster_options options_;
    std::vector<parameter_servers::shard_layout> layout_;

    wire::identity identity() const { return {.model = 1, .layout = parameter_servers::hash_of(layout_), .policy = 1}; }
    cluster as(int process) const { return workers_and_servers(at_, j_.workers, process, options_); }
    void step_dense(parameter_servers::client& c, int w) const {
        std::vector<std::vector<float>> got, gradient;
        std::vector<parameter_servers::pull_target> to;
        for (const auto& l : layout_) {
            got.emplace_back(static_cast<std::size_t>(l.floats));
            gradient.emplace_back(static_cast<std::size_t>(l.floats), 1e-6f);
        }
        for (auto& g : got) to.push_back({g.data()});
        time_worker(t_, j_, w, [&](std::int64_t) {
            if (!c.may_step()) throw device_error("told to stop", "parameter server", c.stop_reason(), "");
            c.begin_push();
            for (int s = 0; s < j_.servers; ++s) c.push(s, 0, gradient[static_cast<std::size_t>(s)]);
            c.wait(c.commit({.loss = 1}, to));
        }, [&] { c.rest(); });
    }
    void step_rows_of(parameter_servers::client& c, int w) const {
        std::vector<std::vector<std::vector<std::int64_t>>> sets;
        for (const step_rows& by : draw_rows(j_, w)) {
            sets.emplace_back();
            for (const auto& rows : by) sets.back().emplace_back(rows.begin(), rows.end());
        }
        const std::vector<float> gradient(static_cast<std::size_t>(j_.rows * j_.dim), 1e-6f);
        std::vector<float> got(gradient.size());
        std::vector<parameter_servers::ticket> waits;
        time_worker(t_, j_, w, [&](std::int64_t k) {
            if (!c.may_step()) throw device_error("told to stop", "parameter server", c.stop_reason(), "");
            const auto& last = sets[static_cast<std::size_t>(k) % sets.size()];
            const auto& next = sets[static_cast<std::size_t>(k + 1) % sets.size()];
            waits.clear();
            c.begin_push();
            for (std::size_t s = 0; s < last.size(); ++s)
                c.push_rows(static_cast<int>(s), 0, last[s],
                            {gradient.data(), last[s].size() * static_cast<std::size_t>(j_.dim)});
            float* at = got.data();
            for (std::size_t s = 0; s < next.size(); ++s) {
                waits.push_back(c.start_pull_rows(static_cast<int>(s), 0, next[s], at));
                at += next[s].size() * static_cast<std::size_t>(j_.dim);
            }
            waits.push_back(c.commit({.loss = 1}));   // with which the pulls leave that were begun before
            for (const parameter_servers::ticket t : waits) c.wait(t);
        }, [&] { c.rest(); });
    }
};

} // namespace

static parameter_servers::update_order order_of(const std::string& mode) {
    const auto behind = [&](const char* name) {
        const std::string start = std::string(name) + ":";
        return mode.starts_with(start) ? number<int>("--mode", mode.substr(start.size()), 0, 1000) : -1;
    };
    if (mode == "async") return parameter_servers::update_order::async();
    if (const int s = behind("stale"); s >= 0) return parameter_servers::update_order::stale(s);
    if (const int b = behind("sync"); b >= 0) return parameter_servers::update_order::sync(b);
    throw option_error("no such mode", "--mode", mode, "async, stale:S or sync:BACKUP");
}

int main(int argc, char** argv) {
    server_job j;
    std::string system = "sinter", key, mode = "async";
    return with_options(
        argc, argv, help,
        [&](const std::string& name, const std::string& value) {
            if (name == "--system") system = value;
            else if (name == "--key") key = value;
            else if (name == "--mode") mode = value;
            else return j.take(name, value);
            return true;
        },
        [&] {
            j.check();
            tally t;
            if (system != "raw" && system != "sinter")
                throw option_error("no such system", "--system", system, "sinter or raw");
            const sinter_job job(j, t, key, order_of(mode));
            const auto serve_or_work = [&](int r) {
                if (r < j.servers) job.serve(r);
                else job.work(r - j.servers);
            };
            const int worst =
                system == "raw" ? time_plain_sockets(j, t) : in_processes(j.servers + j.workers, serve_or_work);
            if (worst == 0)
                print_job(t, j, key.empty() ? system : system + ", key",
                          system == "raw" ? "" : "\"mode\": \"" + mode + "\", ");
            return worst;
        });
}
