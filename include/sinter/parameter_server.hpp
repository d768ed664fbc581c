// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/compiler_options.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/strategy/parameter_server.hpp>
#include <sinter/train/checkpoint/tables_of_servers.hpp>
#include <sinter/train/distribute.hpp>

/// Training by workers and parameter servers, in processes of their own: beside sinter.hpp, for
/// programs that do. Needs Boost.Asio and OpenSSL (CMake: sinter::distributed). A header of its
/// own, since distributed.hpp would take half as long again to compile with it.
