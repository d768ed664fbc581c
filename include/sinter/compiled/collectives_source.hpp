// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of distributed_source.hpp: what members of a job compute together.
#if defined(SINTER_SEPARATE_COMPILATION)
#if defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/collectives_source.hpp comes first in a file of its own"
#endif
#ifndef SINTER_COMPILES_BODIES
#define SINTER_COMPILES_BODIES
#endif
#endif
#include <sinter/collective/automatic.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/hierarchical.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/collective/shared_memory.hpp>
