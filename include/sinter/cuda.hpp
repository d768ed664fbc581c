// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Training on an NVIDIA GPU: `estimator model{net, loss, adam{}, single<cuda>{}}` in a .cu file, the rest unchanged.
/// Compile with nvcc -std=c++20 --expt-relaxed-constexpr; link cuBLASLt and cuDNN (CMake: sinter::cuda).
#include <sinter/device/cuda.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/single.hpp>
