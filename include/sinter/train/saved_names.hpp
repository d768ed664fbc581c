// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <string_view>

namespace sinter::detail {

/// Does a tensor of this name in a file of save()'s serve resuming alone? No variable of a model may have such a name.
constexpr bool is_for_resuming(std::string_view name) { return name == "step" || name.starts_with("optimizer/"); }

} // namespace sinter::detail
