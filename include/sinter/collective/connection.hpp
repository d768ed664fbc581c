// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <sinter/collective/communicator.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/identity.hpp>
#include <sinter/base/separate_compilation.hpp>

/// What the declaration of an algorithm needs that meets other processes: `connect(cluster,
/// identity)` gives the communicator.
