// SPDX-License-Identifier: BSL-1.0
// ps-lite's servers and workers doing what bench/parameter_server does, as one JSON line.
// ps_lite.sh builds it.
#include <cstdlib>

#include <ps/ps.h>

#include "../options.hpp"
#include "../parameter_server/job.hpp"
#include "../processes.hpp"

using namespace sinter::bench;

namespace {

constexpr const char* help =
    "ps_lite [--servers S] [--workers W] [--what rows|dense] [--dim D] [--rows N] [--table ROWS] [--seconds T]\n"
    "As bench/parameter_server; --dim is a row's floats, or those of the vector.";

/// What comes before a server has its handler ends that server; ps-lite's own barrier at the start
/// does not wait for it.
void all_are_ready() { ps::Postoffice::Get()->Barrier(0, ps::kScheduler + ps::kServerGroup + ps::kWorkerGroup); }

/// A key is a row, or the whole of a server's part of a vector; tables are arrays, as fast as a
/// user could make them.
void serve(const server_job& j) {
    ps::KVServer<float> server(0);
    const auto width = static_cast<std::size_t>(j.dense() ? j.held_by(0) : j.dim);
    const ps::Range keys = ps::Postoffice::Get()->GetServerKeyRanges()[static_cast<std::size_t>(ps::MyRank())];
    std::vector<float> table((j.dense() ? 1 : static_cast<std::size_t>(j.held_by(ps::MyRank()))) * width);
    server.set_request_handle([&](const ps::KVMeta& what, const ps::KVPairs<float>& got, ps::KVServer<float>* by) {
        ps::KVPairs<float> answer;
        const std::size_t n = got.keys.size();
        if (what.pull) {
            answer.keys = got.keys;
            answer.vals.resize(n * width);
        }
        for (std::size_t k = 0; k < n; ++k) {
            float* const row = table.data() + (got.keys[k] - keys.begin()) * width;
            if (what.push)
                for (std::size_t i = 0; i < width; ++i) row[i] -= 0.01f * got.vals[k * width + i];
            if (what.pull) std::copy_n(row, width, answer.vals.data() + k * width);
        }
        by->Response(what, answer);
    });
    all_are_ready();
    ps::Finalize(0, true);
}

void work(const server_job& j, tally& t) {
    {
        ps::KVWorker<float> worker(0, 0);
        const int me = ps::MyRank();
        const auto width = static_cast<std::size_t>(j.dense() ? j.held_by(0) : j.dim);
        const std::vector<ps::Range>& ranges = ps::Postoffice::Get()->GetServerKeyRanges();
        std::vector<ps::SArray<ps::Key>> sets;
        const auto add = [&](const step_rows& by) {
            std::vector<ps::Key> keys;
            for (std::size_t s = 0; s < by.size(); ++s)
                for (const std::int32_t row : by[s]) keys.push_back(ranges[s].begin() + static_cast<ps::Key>(row));
            sets.emplace_back(keys);
        };
        if (j.dense()) add(step_rows(static_cast<std::size_t>(j.servers), {0}));
        else
            for (const step_rows& by : draw_rows(j, me)) add(by);
        const ps::SArray<float> gradient(std::vector<float>(sets[0].size() * width, 1e-6f));
        ps::SArray<float> got(gradient.size());
        all_are_ready();
        time_worker(t, j, me, [&](std::int64_t k) {
            const auto at = static_cast<std::size_t>(k);
            if (j.dense()) return worker.Wait(worker.ZPushPull(sets[0], gradient, &got));
            const int pushed = worker.ZPush(sets[at % sets.size()], gradient);
            worker.Wait(worker.ZPull(sets[(at + 1) % sets.size()], &got));
            worker.Wait(pushed);
        }, [] {});
    }
    ps::Finalize(0, true);
}

} // namespace

int main(int argc, char** argv) {
    server_job j;
    return with_options(
        argc, argv, help, [&](const std::string& name, const std::string& value) { return j.take(name, value); },
        [&] {
            j.check();
            tally t;
            const std::string address = loopback_addresses(1)[0];
            const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
            set("DMLC_PS_ROOT_URI", "127.0.0.1");
            set("DMLC_PS_ROOT_PORT", address.substr(address.find(':') + 1));
            set("DMLC_NODE_HOST", "127.0.0.1");
            set("DMLC_NUM_SERVER", std::to_string(j.servers));
            set("DMLC_NUM_WORKER", std::to_string(j.workers));
            const int worst = in_processes(1 + j.servers + j.workers, [&](int r) {
                const char* const role = r == 0 ? "scheduler" : r <= j.servers ? "server" : "worker";
                set("DMLC_ROLE", role);
                ps::StartAsync(0);
                if (r == 0) all_are_ready(), ps::Finalize(0, true);
                else if (r <= j.servers) serve(j);
                else work(j, t);
            });
            if (worst == 0) print_job(t, j, "ps-lite");
            return worst;
        });
}
