// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Parameter servers: as distributed_source.hpp, beside which it is needed. Needs Asio and OpenSSL. Two source files
/// may include a part each, so that they are compiled at the same time.
#include <sinter/compiled/client_source.hpp>
#include <sinter/compiled/server_source.hpp>
