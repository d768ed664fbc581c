// SPDX-License-Identifier: BSL-1.0
// peers: distributed
// How long members take to sum a vector: starts them as processes of this machine, and prints one
// JSON line.
#include <sys/resource.h>

#include <sinter/collective/automatic.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/collective/thread_group.hpp>

#include "collective/raw_ring.hpp"
#include "collective/sample.hpp"
#include "options.hpp"
#include "processes.hpp"

using namespace sinter;
using namespace sinter::bench;

static const char* const help =
    "collectives [--ranks N] [--algorithm A] [--bytes B] [--operation O] [--key K] [--buckets N] [--seconds S]\n"
    "            [--addresses HOST:PORT,... --rank R]\n"
    "  --algorithm  ring, halving_doubling, automatic, shared_memory; threads: of one process; mpi, openmpi:\n"
    "               Sinter's and MPI's own all-reduce under mpirun; raw, flood: plain sockets in a ring, with sums\n"
    "               and without; ping: 8 bytes there and back\n"
    "  --operation  all_reduce (default), all_reduce_tree, barrier\n"
    "  --key        a secret: each frame has a MAC; without, a checksum\n"
    "  --buckets    as so many operations, all started before the first is waited for\n"
    "  --addresses  of members that are started by hand, of which this one is R";

struct options {
    int ranks = 2, rank = -1, buckets = 1;
    std::int64_t bytes = 1 << 20;
    double seconds = 1;
    std::string algorithm = "ring", operation = "all_reduce", key, addresses;
};

static void time_communicator(collective::communicator& c, const options& o) {
    using namespace collective;
    const auto n = std::max<std::int64_t>(o.bytes / 4, 1);
    std::vector<float> x(static_cast<std::size_t>(n), 1e-30f);
    const kind what = o.operation == "barrier"           ? kind::barrier
                      : o.operation == "all_reduce_tree" ? kind::all_reduce_tree
                                                         : kind::all_reduce;
    const auto run = [&] {
        if (what == kind::barrier) return c.barrier();
        ticket last = 0;
        for (int b = 0; b < o.buckets; ++b) {
            const auto [first, end] = part_of(n, b, o.buckets);
            last = c.start({.what = what, .bucket = b}, x.data() + first, end - first, o.buckets > 1);
        }
        c.wait(last);
    };
    const auto from_rank_0 = [&](std::int64_t& v) { c.broadcast({reinterpret_cast<std::byte*>(&v), sizeof v}); };
    std::string name = "sinter " + o.algorithm;
    if (!o.key.empty()) name += ", key";
    if (o.buckets > 1) name += ", " + std::to_string(o.buckets) + " buckets";
    time_operations({c.rank(), run, from_rank_0}, name, o.operation, c.size(), o.bytes, o.seconds);
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    if (c.rank() == 0 && std::getenv("SINTER_BENCH_MEMORY"))
        std::fprintf(stderr, "peak memory %ld KiB, of which the vector %lld KiB\n", used.ru_maxrss,
                     static_cast<long long>(o.bytes / 1024));
}

template <class Algorithm>
static void connect_and_time(const options& o, const std::vector<std::string>& at, int rank) {
    cluster_options with;
    with.job = "collectives";
    with.key = o.key;
    with.insecure = true;
    const auto c = Algorithm::connect(cluster::of(at, rank, with), {});
    time_communicator(*c, o);
}
static void time_over_network(const options& o, const std::vector<std::string>& at, int rank) {
    if (o.algorithm == "ring") return connect_and_time<ring>(o, at, rank);
    if (o.algorithm == "halving_doubling") return connect_and_time<halving_doubling>(o, at, rank);
    if (o.algorithm == "automatic") return connect_and_time<automatic>(o, at, rank);
    if (o.algorithm == "shared_memory") return connect_and_time<shared_memory>(o, at, rank);
    throw option_error("no such algorithm", "--algorithm", o.algorithm, "one of those that --help lists");
}

static int time_sockets(const options& o) {
    std::vector<std::pair<int, int>> forward;   // [r]: from r to r + 1
    for (int r = 0; r < o.ranks; ++r) forward.push_back(connected_sockets());
    return in_processes(o.ranks, [&](int r) {
        raw_ring ring{r, o.ranks, forward[static_cast<std::size_t>(r)].first,
                      forward[static_cast<std::size_t>((r + o.ranks - 1) % o.ranks)].second};
        const std::int64_t n = std::max<std::int64_t>(o.bytes / 4, 1);
        std::vector<float> x(static_cast<std::size_t>(n), 1e-30f), scratch(static_cast<std::size_t>(n / o.ranks + 1));
        std::vector<char> hot(2 * 262144);
        const auto run = [&] {
            if (o.algorithm == "raw") ring.all_reduce(x.data(), n, scratch.data());
            else if (o.algorithm == "flood") ring.flood(o.bytes, hot.data());
            else ring.ping();
        };
        time_operations({r, run, [&](std::int64_t& v) { ring.from_rank_0(v); }}, o.algorithm, "all_reduce", o.ranks,
                        o.bytes, o.seconds);
    });
}

static int under_mpirun(const options& o, const char* self) {
    const std::string here(self);
    const std::string program = here.substr(0, here.rfind('/') + 1) + "collectives_mpi", n = std::to_string(o.ranks),
                      bytes = std::to_string(o.bytes), seconds = std::to_string(o.seconds);
    for (const char* const name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
        ::setenv(name, "1", 0);
    ::execlp("mpirun", "mpirun", "-n", n.c_str(), program.c_str(), "--algorithm", o.algorithm.c_str(), "--bytes",
             bytes.c_str(), "--seconds", seconds.c_str(), "--operation", o.operation.c_str(),
             static_cast<char*>(nullptr));
    throw device_error("cannot be started", "mpirun", std::generic_category().message(errno), "an MPI library");
}

int main(int argc, char** argv) {
    options o;
    return with_options(
        argc, argv, help,
        [&](const std::string& name, const std::string& value) {
            if (name == "--ranks") o.ranks = number<int>(name, value, 1, 256);
            else if (name == "--algorithm") o.algorithm = value;
            else if (name == "--bytes") o.bytes = number<std::int64_t>(name, value, 0, std::int64_t{1} << 34);
            else if (name == "--operation") o.operation = value;
            else if (name == "--key") o.key = value;
            else if (name == "--buckets") o.buckets = number<int>(name, value, 1, 1000);
            else if (name == "--seconds") o.seconds = number<double>(name, value, 0.01, 1e4);
            else if (name == "--addresses") o.addresses = value;
            else if (name == "--rank") o.rank = number<int>(name, value, 0, 255);
            else return false;
            return true;
        },
        [&] {
            if (o.operation != "all_reduce" && o.operation != "all_reduce_tree" && o.operation != "barrier")
                throw option_error("no such operation", "--operation", o.operation,
                                   "all_reduce, all_reduce_tree or barrier");
            if (!o.addresses.empty()) return time_over_network(o, split(o.addresses), std::max(o.rank, 0)), 0;
            if (o.algorithm == "raw" || o.algorithm == "flood" || o.algorithm == "ping") return time_sockets(o);
            if (o.algorithm == "mpi" || o.algorithm == "openmpi") return under_mpirun(o, argv[0]);
            if (o.algorithm == "threads") {
                collective::thread_group group(o.ranks);
                std::vector<base::posix_thread> threads;
                for (int r = 0; r < o.ranks; ++r)
                    threads.emplace_back([&, r] { time_communicator(group.member(r), o); });
                for (auto& t : threads) t.join();
                return 0;
            }
            const std::vector<std::string> at = loopback_addresses(o.ranks);
            return in_processes(o.ranks, [&](int r) { time_over_network(o, at, r); });
        });
}
