// SPDX-License-Identifier: BSL-1.0
// peers: mpi
// The part of `collectives` that mpirun starts: Sinter's all-reduce over MPI, and MPI's own.
#include <sinter/collective/mpi.hpp>

#include "collective/sample.hpp"
#include "options.hpp"

using namespace sinter;
using namespace sinter::bench;

int main(int argc, char** argv) {
    std::string algorithm = "openmpi", operation = "all_reduce";
    std::int64_t bytes = 1 << 20;
    double seconds = 1;
    return with_options(
        argc, argv,
        "collectives_mpi [--algorithm openmpi|mpi] [--operation all_reduce|all_reduce_tree] [--bytes B] "
        "[--seconds S], under mpirun",
        [&](const std::string& name, const std::string& value) {
            if (name == "--algorithm") algorithm = value;
            else if (name == "--operation") operation = value;
            else if (name == "--bytes") bytes = number<std::int64_t>(name, value, 0, std::int64_t{1} << 34);
            else if (name == "--seconds") seconds = number<double>(name, value, 0.01, 1e4);
            else return false;
            return true;
        },
        [&] {
            using namespace collective;
            const auto c = mpi::connect(cluster{}, {});
            const auto n = std::max<std::int64_t>(bytes / 4, 1);
            std::vector<float> x(static_cast<std::size_t>(n), 1e-30f);
            const kind what = operation == "all_reduce_tree" ? kind::all_reduce_tree : kind::all_reduce;
            const auto run = [&] {
                if (algorithm == "mpi") c->wait(c->start({.what = what}, x.data(), n, false));
                else MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(n), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            };
            const auto from_rank_0 = [&](std::int64_t& v) { MPI_Bcast(&v, 1, MPI_INT64_T, 0, MPI_COMM_WORLD); };
            const char* const tcp = std::getenv("OMPI_MCA_btl");
            const std::string name = algorithm == "mpi"                                         ? "sinter mpi"
                                     : tcp && std::string(tcp).find("tcp") != std::string::npos ? "openmpi tcp"
                                                                                                : "openmpi";
            time_operations({c->rank(), run, from_rank_0}, name, operation, c->size(), bytes, seconds);
            return 0;
        });
}
