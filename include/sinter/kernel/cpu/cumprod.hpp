// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/scan.hpp>
#include <sinter/ops/cumprod.hpp>

namespace sinter::cpu {

template <class Body, int... X>
struct nest<op::cumprod, Body, X...> { using type = cumulation<scan_of::products>; };

} // namespace sinter::cpu
