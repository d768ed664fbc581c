// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/device/cpu/tables.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// Bytes that a run of program P on a Device works in: parameters, gradients, the optimizer's
/// memory, states, activations tables and the kernels' scratch space. A constant; the batch itself,
/// and what CUDA's libraries take for themselves, come on top.
template <class P, class Device>
constexpr std::int64_t step_bytes() {
    return P::v.bytes() + 4 * (Device::template runner<P>::scratch_floats() + program_tables<P>::floats);
}

} // namespace sinter::runtime
