// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/middle_reduction.hpp>
#include <sinter/ops/prod.hpp>

namespace sinter::cpu {

template <class Body, int... X>
struct nest<op::prod, Body, X...> { using type = middle_reduction<multiplies, Body>; };

} // namespace sinter::cpu
