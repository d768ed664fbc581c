// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A source file of the library that programs link which define SINTER_SEPARATE_COMPILATION
/// (base/separate_compilation.hpp): members of a job, and what they compute together. Needs Asio and OpenSSL.
#if defined(SINTER_SEPARATE_COMPILATION)
#if defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/distributed_source.hpp comes first in a file of its own"
#endif
#ifndef SINTER_COMPILES_BODIES
#define SINTER_COMPILES_BODIES
#endif
#endif
#include <sinter/collective/automatic.hpp>
#include <sinter/collective/elastic_job.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/healer.hpp>
#include <sinter/collective/hierarchical.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/collective/shared_memory.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/net/progress_report.hpp>
#include <sinter/strategy/elastic/slot_record.hpp>
