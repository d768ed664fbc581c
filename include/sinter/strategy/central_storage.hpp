// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/mirrored.hpp>

namespace sinter::inline SINTER_TARGET {

/// N replicas whose parameters are kept in one place: `central_storage<2>{}`. On a processor that
/// is what mirrored<N> does, whose replicas share the host's memory, and this is the same. GPUs
/// keep a copy each, which all update alike.
template <int N, class Device = cpu_device>
struct central_storage : mirrored<N, Device> {};

} // namespace sinter
