// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Pipelines of structs, tuples and numbers: sources, stages, and batches of them.
#include <sinter/data/batches.hpp>
#include <sinter/data/source/csv/rows.hpp>
#include <sinter/data/stages/apply.hpp>
#include <sinter/data/stages/cardinality.hpp>
#include <sinter/data/stages/concatenate.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/enumerate.hpp>
#include <sinter/data/stages/examples_as.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/fixed_length_records.hpp>
#include <sinter/data/stages/flat_map.hpp>
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/print.hpp>
#include <sinter/data/stages/reduce.hpp>
#include <sinter/data/stages/repeat.hpp>
#include <sinter/data/stages/scan.hpp>
#include <sinter/data/stages/shard.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/skip.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/data/stages/take_while.hpp>
#include <sinter/data/stages/text_lines.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <sinter/data/stages/unbatch.hpp>
#include <sinter/data/stages/window.hpp>
#include <sinter/data/stages/zip.hpp>
