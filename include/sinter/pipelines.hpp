// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Pipelines of structs, tuples and numbers: sources, stages, and batches of them.
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
