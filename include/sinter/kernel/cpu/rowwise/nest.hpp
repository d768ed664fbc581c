// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/compiler/emit/spec.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The loop nest of a spec, as nest<K, Body, X...>::type, where X are its twelve compile-time
/// extents. The file of each kernel says which op's nest it is.
template <op_id K, class Body, int... X>
struct nest;

} // namespace sinter::cpu
