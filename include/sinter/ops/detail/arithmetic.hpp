// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

// nvcc calls constexpr functions from both sides (--expt-relaxed-constexpr), and unlike __host__
// __device__ that leaves the forms for the CPU's vectors alone, which it could not compile for a
// device.
#ifdef __CUDACC__
#define SINTER_VALUE constexpr __forceinline__
#else
#define SINTER_VALUE __attribute__((always_inline)) inline
#endif

namespace sinter::inline SINTER_TARGET {

/// The functions that elementwise ops are made of, for one number type: float and the CPU's vectors
/// specialise it. (Vector types have no namespace of their own, so overloads would not be found
/// from a template.)
template <class V>
struct arithmetic;

} // namespace sinter
