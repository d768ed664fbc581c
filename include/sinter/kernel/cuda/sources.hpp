// SPDX-License-Identifier: BSL-1.0
#pragma once
// Every source of GPU kernels. Written by scripts/kernel_lists.sh.
#include <sinter/kernel/cuda/attention.hpp>
#include <sinter/kernel/cuda/attention_gradient.hpp>
#include <sinter/kernel/cuda/sources/convolution.hpp>
#include <sinter/kernel/cuda/sources/convolutions.hpp>
#include <sinter/kernel/cuda/sources/copies.hpp>
#include <sinter/kernel/cuda/sources/indices.hpp>
#include <sinter/kernel/cuda/sources/interpolate.hpp>
#include <sinter/kernel/cuda/sources/local_response_norm.hpp>
#include <sinter/kernel/cuda/sources/moves.hpp>
#include <sinter/kernel/cuda/sources/patches.hpp>
#include <sinter/kernel/cuda/sources/pools.hpp>
#include <sinter/kernel/cuda/sources/products.hpp>
#include <sinter/kernel/cuda/sources/rotary.hpp>
#include <sinter/kernel/cuda/sources/rows.hpp>
#include <sinter/kernel/cuda/sources/scans.hpp>
