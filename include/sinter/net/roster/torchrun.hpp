// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/roster/claim.hpp>

namespace sinter::inline SINTER_ORDINARY::wire::roster {

/// PyTorch's variables: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, as torchrun and Kubeflow's
/// PyTorchJob set them, or by hand. torchrun itself listens at MASTER_PORT (it says so by
/// TORCHELASTIC_USE_AGENT_STORE): the members then meet one port above.
SINTER_COLD inline std::optional<claim> torchrun(const environment& env) {
    auto found = rank_and_size("RANK and WORLD_SIZE", env, "RANK", "WORLD_SIZE");
    if (!found || found->size == 0) return found;
    claim& c = *found;
    c.needed = "MASTER_ADDR and MASTER_PORT, or SINTER_MASTER=host:port";
    c.master = given_master(env);
    if (!env("SINTER_MASTER") && env("TORCHELASTIC_USE_AGENT_STORE") == "True" && c.master.known())
        c.master.port = static_cast<std::uint16_t>(c.master.port == 65535 ? 65534 : c.master.port + 1);
    c.job = env("TORCHELASTIC_RUN_ID").value_or("");
    c.local_size = variables(env).integer("LOCAL_WORLD_SIZE", 1, most_ranks).value_or(1);
    return found;
}

/// What Kubeflow's Trainer v2 sets for torchrun, read where a program is started without it: a
/// process for each node.
SINTER_COLD inline std::optional<claim> kubeflow(const environment& env) {
    const auto nodes = env("PET_NNODES"), each = env("PET_NPROC_PER_NODE");
    if (nodes && nodes->find(':') != nodes->npos) {
        claim c;
        c.family = "PET_*";
        c.variables = "PET_NNODES=" + quoted_text(*nodes);
        c.missing = "a range of nodes is for torchrun to settle";
        return c;
    }
    auto found = rank_and_size("PET_*", env, "PET_NODE_RANK", "PET_NNODES");
    if (!found || found->size == 0) return found;
    if (each && wire::integer(*each, 2, most_ranks))
        throw option_error("several processes for each node, and nothing has started them", "PET_NPROC_PER_NODE",
                           *each, "1 (numProcPerNode in the TrainJob), or the program started by torchrun");
    claim& c = *found;
    variables v(env);
    c.needed = "PET_MASTER_ADDR and PET_MASTER_PORT, or SINTER_MASTER=host:port";
    const auto host = v.text("PET_MASTER_ADDR");
    const auto port = v.integer("PET_MASTER_PORT", 1, 65535);
    const bool own = host && port && !env("SINTER_MASTER");
    c.master = own ? host_and_port(*host, "PET_MASTER_ADDR", *port) : given_master(env);
    return found;
}

} // namespace sinter::inline SINTER_ORDINARY::wire::roster
