// SPDX-License-Identifier: BSL-1.0
#pragma once
// The class is in interface.hpp; the rest is what it does.
#include <sinter/parameter_server/client/interface.hpp>
#if SINTER_BODIES
#include <sinter/parameter_server/client/engine.hpp>
#include <sinter/parameter_server/client/calls.hpp>
#include <sinter/parameter_server/client/dialling.hpp>
#include <sinter/parameter_server/client/instances.hpp>
#include <sinter/parameter_server/client/sums.hpp>
#endif
