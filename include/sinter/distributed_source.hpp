// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The name of before for the parts of the library that multi_worker needs: compiled_source.hpp says more.
#include <sinter/compiled/core_source.hpp>
#include <sinter/compiled/distributed_source.hpp>
