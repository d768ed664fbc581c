// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <string_view>

namespace sinter::inline SINTER_TARGET::detail {

/// Does a tensor of this name belong to a run and its hooks (train/checkpoint/run_checkpoint.hpp)?
constexpr bool is_of_a_run(std::string_view name) { return name.starts_with("run/") || name.starts_with("hooks/"); }

/// Does a tensor of this name in a file of save()'s serve resuming alone? No variable of a model
/// may have such a name.
constexpr bool is_for_resuming(std::string_view name) {
    return name == "step" || name.starts_with("optimizer/") || is_of_a_run(name);
}

} // namespace sinter::detail
