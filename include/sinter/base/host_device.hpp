// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Before a function that GPU threads run and the host can run too, which is how it is tested where
/// there is no GPU.
#ifdef __CUDACC__
#define SINTER_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define SINTER_HOST_DEVICE __attribute__((always_inline)) inline
#endif
