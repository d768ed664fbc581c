// SPDX-License-Identifier: BSL-1.0
#include "train.hpp"
#include <sinter/distributed.hpp>

// Who the others are says the environment that a launcher sets: sinter-launch, torchrun, Slurm, Kubernetes... or
// TF_CONFIG (doc/cluster.md).
bool distributed::train_workers(const settings& s, int& code) {
    if (s.canonical || s.strategy != "multi_worker") return false;
    if (s.detail == "ring") code = train(s, multi_worker<ring>{cluster::from_environment()});
    else if (s.detail == "halving_doubling") code = train(s, multi_worker<halving_doubling>{cluster::from_environment()});
    else if (s.detail == "automatic") code = train(s, multi_worker<automatic>{cluster::from_environment()});
    else return false;
    return true;
}
