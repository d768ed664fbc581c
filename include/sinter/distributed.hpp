// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/compiler_options.hpp>
#include <sinter/collective/automatic.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/hierarchical.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/collective/shared_memory.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/central_storage.hpp>
#include <sinter/strategy/multi_worker.hpp>
#include <sinter/strategy/sharded_update.hpp>

/// Training in several processes, over TCP and shared memory: beside sinter.hpp, for programs that
/// do. Needs Boost.Asio and OpenSSL (CMake: sinter::distributed). MPI and NCCL have headers of
/// their own: sinter/collective/mpi.hpp, sinter/collective/nccl.hpp.
