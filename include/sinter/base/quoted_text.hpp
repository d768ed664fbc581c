// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/json_text.hpp>

namespace sinter::base {

/// Text of strangers in quotes, fit for an error message: control characters escaped, long ones
/// cut.
SINTER_COLD inline std::string quoted_text(std::string_view s) {
    return s.size() <= 100 ? json::text(s) : json::text(s.substr(0, 100)) + "...";
}

} // namespace sinter::base
