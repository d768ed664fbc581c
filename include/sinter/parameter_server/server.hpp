// SPDX-License-Identifier: BSL-1.0
#pragma once
// The class is in interface.hpp; the rest is what it does.
#include <sinter/parameter_server/server/interface.hpp>
#if SINTER_BODIES
#include <sinter/parameter_server/server/engine.hpp>
#include <sinter/parameter_server/server/lifecycle.hpp>
#include <sinter/parameter_server/server/calls.hpp>
#include <sinter/parameter_server/server/copies.hpp>
#include <sinter/parameter_server/server/exporting.hpp>
#include <sinter/parameter_server/server/following.hpp>
#include <sinter/parameter_server/server/job_files.hpp>
#include <sinter/parameter_server/server/leading.hpp>
#include <sinter/parameter_server/server/norms.hpp>
#include <sinter/parameter_server/server/presence.hpp>
#include <sinter/parameter_server/server/pushes.hpp>
#include <sinter/parameter_server/server/serving.hpp>
#include <sinter/parameter_server/server/updates.hpp>
#include <sinter/parameter_server/server/worker_connection.hpp>
#endif
