// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of distributed_source.hpp: who is in a job, and jobs whose members change.
#if defined(SINTER_SEPARATE_COMPILATION) && defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/elastic_source.hpp comes first in a file of its own"
#endif
#include <sinter/compiled/core_io_headers.hpp>
#include <sinter/compiled/core_data_headers.hpp>

#include <sinter/compiled/bodies_from_here.hpp>

#include <sinter/collective/elastic_job.hpp>
#include <sinter/collective/healer.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/net/progress_report.hpp>
#include <sinter/strategy/elastic/slot_record.hpp>
