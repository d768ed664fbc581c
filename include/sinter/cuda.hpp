// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Training on an NVIDIA GPU: `estimator model{net, loss, adam{}, single<cuda>{}}` in a .cu file.
/// What programs on the processor include, sinter.hpp, without the processor's kernels; a file that
/// needs these includes both. Compile with nvcc -std=c++20 --expt-relaxed-constexpr; link cuBLASLt
/// and cuDNN (CMake: sinter::cuda).
#include <sinter/device/cuda.hpp>
#include <sinter/training.hpp>
