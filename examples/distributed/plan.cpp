// SPDX-License-Identifier: BSL-1.0
#include "train.hpp"
#include <sinter/profile/describe_distribution.hpp>

/// sinter-launch --plan: what a step would take on a cluster, each worker with a part of the
/// largest batch.
bool distributed::plan_if_asked() {
    return print_plan_if_asked<decltype(estimator{net, softmax_cross_entropy, adam{}, max_batch<largest_batch>})>();
}
