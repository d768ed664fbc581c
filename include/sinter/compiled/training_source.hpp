// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A part of core_source.hpp: the loop of training, evaluation, hooks and checkpoints.
#if defined(SINTER_SEPARATE_COMPILATION) && defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/training_source.hpp comes first in a file of its own"
#endif
#include <sinter/compiled/core_io_headers.hpp>
#include <sinter/compiled/core_data_headers.hpp>

#include <sinter/compiled/bodies_from_here.hpp>

#include <sinter/collective/checked_communicator.hpp>
#include <sinter/collective/validated_gather.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/strategy/synchronous/same_batch.hpp>
#include <sinter/train/checkpoint/checkpoint_folder.hpp>
#include <sinter/train/checkpoint/read_weights.hpp>
#include <sinter/train/checkpoint/run_checkpoint.hpp>
#include <sinter/train/checkpoint/tables_of_servers.hpp>
#include <sinter/train/checkpoint/trainer_files.hpp>
#include <sinter/train/checkpoint/weights_file.hpp>
#include <sinter/train/hooks/check_replicas.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/hooks/reduce_on_plateau.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/loop.hpp>
