// SPDX-License-Identifier: BSL-1.0
#pragma once

#ifdef __CUDACC__
#define SINTER_VALUE __host__ __device__ __forceinline__
#else
#define SINTER_VALUE __attribute__((always_inline)) inline
#endif

namespace sinter {

/// The functions that elementwise ops are made of, for one number type: float and the CPU's vectors specialise it.
/// (Vector types have no namespace of their own, so overloads would not be found from a template.)
template <class V>
struct arithmetic;

} // namespace sinter
