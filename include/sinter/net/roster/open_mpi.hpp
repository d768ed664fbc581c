// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/roster/claim.hpp>

namespace sinter::inline SINTER_ORDINARY::wire::roster {

namespace detail {

/// Launchers of MPI programs give no address. Where all ranks are on one host, loopback and a port
/// made from the job's name will do; otherwise the user says it.
SINTER_COLD inline void find_mpi_master(claim& c, const environment& env, const char* local_size) {
    c.master = given_master(env);
    c.needed = "SINTER_MASTER=host:port of the host of rank 0, as in mpirun -x SINTER_MASTER=node1:2222";
    for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"})
        if (c.job.empty()) c.job = env(name).value_or("");
    const bool one_host = variables(env).integer(local_size, 1, most_ranks).value_or(0) == c.size;
    if (!c.master.known() && one_host && !c.job.empty()) c.master = {"127.0.0.1", port_of(c.job)};
}

} // namespace detail

/// Open MPI's mpirun: OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE.
SINTER_COLD inline std::optional<claim> open_mpi(const environment& env) {
    auto found = rank_and_size("OMPI_*", env, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
    if (found && found->size > 0) detail::find_mpi_master(*found, env, "OMPI_COMM_WORLD_LOCAL_SIZE");
    return found;
}

/// PMIx gives a rank but no size, which other variables of its launcher say; MPICH's Hydra says
/// both, by PMI_RANK and PMI_SIZE.
SINTER_COLD inline std::optional<claim> pmix(const environment& env) {
    const bool hydra = env("PMI_RANK") && env("PMI_SIZE");
    if (!hydra && !env("PMIX_RANK")) return {};
    const char* size = "PMI_SIZE";
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"})
        if (!env(size)) size = name;
    auto found = hydra ? rank_and_size("PMI_*", env, "PMI_RANK", "PMI_SIZE")
                       : rank_and_size("PMIX_*", env, "PMIX_RANK", size);
    if (found->size > 0) detail::find_mpi_master(*found, env, hydra ? "MPI_LOCALNRANKS" : "OMPI_COMM_WORLD_LOCAL_SIZE");
    else found->missing = "nothing says how many ranks there are";
    return found;
}

} // namespace sinter::inline SINTER_ORDINARY::wire::roster
