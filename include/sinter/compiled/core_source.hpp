// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What all programs need of the library that those link which define SINTER_SEPARATE_COMPILATION
/// (base/separate_compilation.hpp): a source file of it includes this. Needs neither Boost nor OpenSSL.
#if defined(SINTER_SEPARATE_COMPILATION)
#if defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/core_source.hpp comes first in a file of its own"
#endif
#ifndef SINTER_COMPILES_BODIES
#define SINTER_COMPILES_BODIES
#endif
#endif
#include <sinter/collective/checked_communicator.hpp>
#include <sinter/collective/validated_gather.hpp>
#include <sinter/data/source/idx.hpp>
#include <sinter/io/run_record.hpp>
#include <sinter/io/safetensors/open.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/strategy/synchronous/same_batch.hpp>
