// SPDX-License-Identifier: BSL-1.0
#include "train.hpp"
#include <sinter/elastic.hpp>

// Who the others are says the environment that a launcher sets: sinter-launch, torchrun, Slurm, Kubernetes... or
// TF_CONFIG (doc/cluster.md). elastic(..., false) is the strategy that it is around.
bool distributed::train_workers(const settings& s, int& code) {
    if (s.canonical || s.strategy != "multi_worker") return false;
    const auto on = [&](auto strategy) { code = train(s, elastic(std::move(strategy), s.elastic)); };
    if (s.detail == "ring") on(multi_worker<ring>{cluster::from_environment()});
    else if (s.detail == "halving_doubling") on(multi_worker<halving_doubling>{cluster::from_environment()});
    else if (s.detail == "automatic") on(multi_worker<automatic>{cluster::from_environment()});
    else return false;
    return true;
}
