// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of parameter_server_source.hpp: the servers.
#if defined(SINTER_SEPARATE_COMPILATION) && defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/server_source.hpp comes first in a file of its own"
#endif
#include <sinter/compiled/core_io_headers.hpp>
#include <sinter/compiled/core_data_headers.hpp>

#include <sinter/compiled/bodies_from_here.hpp>

#include <sinter/parameter_server/server.hpp>
