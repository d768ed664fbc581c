// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Members of a job, and what they compute together: as core_source.hpp, beside which it is needed. Needs Asio and
/// OpenSSL. Two source files may include a part each, so that they are compiled at the same time.
#include <sinter/compiled/collectives_source.hpp>
#include <sinter/compiled/elastic_source.hpp>
