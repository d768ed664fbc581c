// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

namespace sinter::base {

/// The smallest multiple of `to` that is not below n.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

} // namespace sinter::base
