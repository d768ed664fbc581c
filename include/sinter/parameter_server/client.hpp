// SPDX-License-Identifier: BSL-1.0
#pragma once
// The class is in interface.hpp; the rest is what it does.
#include <sinter/parameter_server/client/interface.hpp>
#include <sinter/parameter_server/client/engine.hpp>
#include <sinter/parameter_server/client/calls.hpp>
#include <sinter/parameter_server/client/dialling.hpp>
#include <sinter/parameter_server/client/sums.hpp>
