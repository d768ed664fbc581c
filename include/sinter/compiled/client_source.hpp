// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of parameter_server_source.hpp: a worker's side, and the files of servers.
#if defined(SINTER_SEPARATE_COMPILATION) && defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/client_source.hpp comes first in a file of its own"
#endif
#include <sinter/compiled/core_io_headers.hpp>
#include <sinter/compiled/core_data_headers.hpp>

#include <sinter/compiled/bodies_from_here.hpp>

#include <sinter/parameter_server/client.hpp>
#include <sinter/parameter_server/shard_checkpoint.hpp>
#include <sinter/strategy/parameter_server/changes_files.hpp>
#include <sinter/strategy/parameter_server/job_tables.hpp>
#include <sinter/strategy/parameter_server/reports.hpp>
#include <sinter/strategy/parameter_server/server_link.hpp>
