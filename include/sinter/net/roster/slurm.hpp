// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/roster/claim.hpp>
#include <sinter/net/roster/hostlist.hpp>

namespace sinter::inline SINTER_ORDINARY::wire::roster {

/// What srun gives each task of a step. A shell of salloc and the script of sbatch have most of the
/// variables too, but are no step of several tasks: they do not count.
///
/// Rank 0 is on the first node of the list (on one node alone, all meet at its loopback address);
/// its port follows from the numbers of the job and the step.
SINTER_COLD inline std::optional<claim> slurm(const environment& env) {
    if (!env("SLURM_JOB_ID") && !env("SLURM_PROCID") && !env("SLURM_NTASKS")) return {};
    const auto first_set = [&](const char* a, const char* b) { return env(a) ? a : b; };
    const char* const size = first_set("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS");
    const char* const nodes = first_set("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
    const auto step = env(first_set("SLURM_STEP_ID", "SLURM_STEPID"));
    constexpr int last_step = 0x7fffffff;   // the numbers above stand for scripts and shells
    if (!step || !wire::integer(*step, 0, last_step)) {
        variables v(env);
        for (const char* name : {"SLURM_JOB_ID", "SLURM_PROCID", size}) v.text(name);
        claim c;
        c.family = "SLURM_*", c.variables = v.text(), c.missing = "not started by srun";
        return c;
    }
    auto found = rank_and_size("SLURM_*", env, "SLURM_PROCID", size);
    if (!found || found->size == 0) return found;
    claim& c = *found;
    const std::string job = env("SLURM_JOB_ID").value_or("0");
    c.job = "slurm-" + job + "." + *step;
    c.master = given_master(env);
    c.needed = "SLURM_JOB_NODELIST, or SINTER_MASTER=host:port of the host of task 0";
    if (c.master.known()) return found;
    const bool in_order = env("SLURM_DISTRIBUTION").value_or("block").find("arbitrary") == std::string::npos;
    if (!in_order) c.needed = "SINTER_MASTER=host:port of the host of task 0, since tasks are placed arbitrarily";
    else if (const auto list = env(nodes)) {
        const auto hosts = expand_hostlist(*list, nodes);
        c.master = {hosts.size() == 1 ? "127.0.0.1" : hosts[0], port_of(c.job)};
    }
    return found;
}

} // namespace sinter::inline SINTER_ORDINARY::wire::roster
