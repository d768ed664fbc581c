// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Pipelines of structs, tuples and numbers: sources, stages, and batches of them.
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/apply.hpp>
#include <sinter/data/stages/bucket_by_sequence_length.hpp>
#include <sinter/data/stages/cardinality.hpp>
#include <sinter/data/stages/concatenate.hpp>
#include <sinter/data/stages/counter.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/enumerate.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/flat_map.hpp>
#include <sinter/data/stages/generator.hpp>
#include <sinter/data/stages/group_by_window.hpp>
#include <sinter/data/stages/ignore_errors.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/mixture.hpp>
#include <sinter/data/stages/pack.hpp>
#include <sinter/data/stages/pad_to.hpp>
#include <sinter/data/stages/print.hpp>
#include <sinter/data/stages/random.hpp>
#include <sinter/data/stages/reduce.hpp>
#include <sinter/data/stages/rejection_resample.hpp>
#include <sinter/data/stages/repeat.hpp>
#include <sinter/data/stages/scan.hpp>
#include <sinter/data/stages/shard.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/skip.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/data/stages/take_while.hpp>
#include <sinter/data/stages/unbatch.hpp>
#include <sinter/data/stages/unique.hpp>
#include <sinter/data/stages/window.hpp>
#include <sinter/data/stages/zip.hpp>
