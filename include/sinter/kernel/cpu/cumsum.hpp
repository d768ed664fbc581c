// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/scan.hpp>
#include <sinter/ops/cumsum.hpp>

namespace sinter::cpu {

template <class Body, int... X>
struct nest<op::cumsum, Body, X...> { using type = cumulation<scan_of::sums>; };

} // namespace sinter::cpu
