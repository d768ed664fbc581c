// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What one file of a program includes whose files define SINTER_SEPARATE_COMPILATION: see
/// net/separate_compilation.hpp. CMake's target sinter::distributed_compiled has such a file.
/// All files are compiled for the same processor.
#if defined(SINTER_SEPARATE_COMPILATION)
#if defined(SINTER_BODIES)
#error "sinter/distributed_source.hpp comes first in a file of its own"
#endif
#define SINTER_COMPILES_BODIES
#endif
#include <sinter/collective/automatic.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/hierarchical.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/collective/shared_memory.hpp>
#include <sinter/net/from_environment.hpp>
