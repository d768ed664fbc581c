// SPDX-License-Identifier: BSL-1.0
#include "train.hpp"
#include <sinter/elastic.hpp>

// Who the others are says the environment that a launcher sets: sinter-launch, torchrun, Slurm,
// Kubernetes... or TF_CONFIG (doc/cluster.md). elastic(..., false) is the strategy that it is
// around.
bool distributed::train_workers(const settings& s, int& code) {
    if (s.canonical || s.strategy != "multi_worker") return false;
    if (s.detail == "ring") code = train(s, elastic(multi_worker<ring>{cluster::from_environment()}, s.elastic));
    else if (s.elastic) return false;   // this program has it of ring alone, or it would compile for longer
    else if (s.detail == "halving_doubling")
        code = train(s, multi_worker<halving_doubling>{cluster::from_environment()});
    else if (s.detail == "automatic") code = train(s, multi_worker<automatic>{cluster::from_environment()});
    else return false;
    return true;
}
