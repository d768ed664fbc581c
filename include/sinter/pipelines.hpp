// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Pipelines of structs, tuples and numbers: sources, stages, and batches of them.
#include <sinter/data/batches.hpp>
#include <sinter/data/source/csv/rows.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/examples_as.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/fixed_length_records.hpp>
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/text_lines.hpp>
#include <sinter/data/stages/tfrecords.hpp>
