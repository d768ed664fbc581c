// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What a training program includes but for a device: expressions, layers, losses, optimizers,
/// data, and the estimator. sinter.hpp is this and the processor, cuda.hpp is this and GPUs.
#include <sinter/base/compiler_options.hpp>
#include <sinter/base/message.hpp>
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/source/idx.hpp>
#include <sinter/data/transform/map.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/transform/repeat.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/elementwise.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/expr/output.hpp>
#include <sinter/estimator/estimator.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/metrics.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/sgd.hpp>
