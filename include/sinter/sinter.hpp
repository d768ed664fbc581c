// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What a training program includes: expressions, layers, losses, optimizers, data, and training on this machine's
/// processor. CUDA does not come with it: that is cuda.hpp.
#include <sinter/data/batch.hpp>
#include <sinter/data/idx.hpp>
#include <sinter/data/map.hpp>
#include <sinter/data/prefetch.hpp>
#include <sinter/data/repeat.hpp>
#include <sinter/data/shuffle.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/layers/activation.hpp>
#include <sinter/expr/layers/conv2d.hpp>
#include <sinter/expr/layers/dense.hpp>
#include <sinter/expr/layers/dropout.hpp>
#include <sinter/expr/layers/elementwise.hpp>
#include <sinter/expr/layers/embedding.hpp>
#include <sinter/expr/layers/norm.hpp>
#include <sinter/expr/layers/pool.hpp>
#include <sinter/expr/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/train/estimator.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/metrics.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/sgd.hpp>
