// SPDX-License-Identifier: BSL-1.0
#pragma once

/// All ops, as functions of symbolic tensors in sinter::ops. sinter.hpp includes those alone that its layers and losses are
/// made of; this is for everything else, or include the one op that you need.
#include <sinter/ops/add.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/broadcast.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/cond.hpp>
#include <sinter/ops/conv2d.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/erf.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/gelu.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/map_fn.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/max.hpp>
#include <sinter/ops/max_pool.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/over_batch.hpp>
#include <sinter/ops/permute.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/scan.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/softmax.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/ops/while_loop.hpp>
