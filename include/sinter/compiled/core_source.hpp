// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The core in one file, for those who have no use for two: all that does not depend on a model and is neither of
/// several processes nor of servers.
#include <sinter/compiled/core_io_source.hpp>
#include <sinter/compiled/core_data_source.hpp>
