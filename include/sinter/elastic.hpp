// SPDX-License-Identifier: BSL-1.0
#pragma once
/// Jobs whose members may die and come again: elastic(multi_worker<ring>{...}).
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/compiler_options.hpp>
#include <sinter/distributed.hpp>
#include <sinter/strategy/elastic.hpp>
#include <sinter/train/checkpoint/run_checkpoint.hpp>
