// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of distributed_source.hpp: what members of a job compute together.
#if defined(SINTER_SEPARATE_COMPILATION) && defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/collectives_source.hpp comes first in a file of its own"
#endif
#include <sinter/compiled/core_io_headers.hpp>
#include <sinter/compiled/core_data_headers.hpp>

#include <sinter/compiled/bodies_from_here.hpp>

#include <sinter/collective/automatic.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/hierarchical.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/collective/shared_memory.hpp>
