// SPDX-License-Identifier: BSL-1.0
// peers: distributed
// How many steps a second workers take that push to parameter servers and pull from them: starts all as processes of this
// machine, and prints one JSON line.
#include "collective/raw_ring.hpp"
#include "parameter_server/job.hpp"
#include "parameter_server/plain_sockets.hpp"
#include "processes.hpp"

using namespace sinter;
using namespace sinter::bench;

static const char* const help =
    "parameter_server [--servers S] [--workers W] [--what rows|dense] [--dim D] [--rows N] [--table ROWS] [--seconds T]\n"
    "                 [--system sinter|raw] [--key K]\n"
    "A step pushes the gradient of N distinct rows of D floats and pulls N others; dense: of a vector of D floats.\n"
    "  --system  raw: plain sockets, without frames, checks or numbers\n"
    "  --key     a secret: each frame has a MAC; without, a checksum";

static int time_plain_sockets(const server_job& j, tally& t) {
    std::vector<std::vector<int>> of_server(static_cast<std::size_t>(j.servers)), of_worker(static_cast<std::size_t>(j.workers));
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

int main(int argc, char** argv) {
    server_job j;
    std::string system = "sinter", key;
    return with_options(
        argc, argv, help,
        [&](const std::string& name, const std::string& value) {
            if (name == "--system") system = value;
            else if (name == "--key") key = value;
            else return j.take(name, value);
            return true;
        },
        [&] {
            j.check();
            tally t;
            if (system != "raw") throw option_error("no such system", "--system", system, "sinter or raw");
            const int worst = time_plain_sockets(j, t);
            if (worst == 0) print_job(t, j, system);
            return worst;
        });
}
