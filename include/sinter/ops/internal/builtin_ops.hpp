// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/convolution.hpp>
#include <sinter/ops/detail/loops.hpp>
#include <sinter/ops/detail/runtime_scalar.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/max.hpp>
#include <sinter/ops/max_pool.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/random_uniform.hpp>

/// The ops that passes or kernels know by name: products, convolutions and pools, which are fused
/// in ways of their own, and what a body's instructions make special.
