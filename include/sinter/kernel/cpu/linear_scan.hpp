// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/scan.hpp>
#include <sinter/ops/linear_scan.hpp>

namespace sinter::cpu {

template <class Body, int... X>
struct nest<op::linear_scan, Body, X...> { using type = cumulation<scan_of::recurrences>; };

} // namespace sinter::cpu
