// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of parameter_server_source.hpp: the servers.
#if defined(SINTER_SEPARATE_COMPILATION)
#if defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/server_source.hpp comes first in a file of its own"
#endif
#ifndef SINTER_COMPILES_BODIES
#define SINTER_COMPILES_BODIES
#endif
#endif
#include <sinter/parameter_server/server.hpp>
