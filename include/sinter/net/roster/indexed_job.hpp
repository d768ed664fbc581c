// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/roster/claim.hpp>

namespace sinter::inline SINTER_ORDINARY::wire::roster {

/// The part of a manifest that a plain Job of Kubernetes needs to be a cluster.
inline constexpr const char* indexed_job_yaml = R"(a Job whose manifest says, for four processes,
apiVersion: v1
kind: Service
metadata: {name: train}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {job-name: train}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  template:
    spec:
      subdomain: train
      containers:
      - env:
        - {name: SINTER_SIZE, value: "4"}
        - {name: SINTER_MASTER, value: "train-0.train:2222"}
or SINTER_SIZE=1 for processes that have nothing to do with each other)";

/// A plain indexed Job of Kubernetes says this pod's index by JOB_COMPLETION_INDEX, and nothing of
/// the others: their number is SINTER_SIZE (or WORLD_SIZE), the address of the first one
/// SINTER_MASTER (or MASTER_ADDR and MASTER_PORT).
SINTER_COLD inline std::optional<claim> indexed_job(const environment& env) {
    if (!env("JOB_COMPLETION_INDEX")) return {};
    const char* size = env("SINTER_SIZE") ? "SINTER_SIZE" : "WORLD_SIZE";
    if (env(size) == "1") return {};
    auto found = rank_and_size("JOB_COMPLETION_INDEX", env, "JOB_COMPLETION_INDEX", size);
    if (found->size > 0) found->master = given_master(env);
    else found->missing = "nothing says how many pods there are, and where the first is";
    found->needed = indexed_job_yaml;
    return found;
}

} // namespace sinter::inline SINTER_ORDINARY::wire::roster
