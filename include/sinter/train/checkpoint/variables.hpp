// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>
#include <sinter/device/plain_form.hpp>
#include <sinter/graph/path_of.hpp>

/// Parameters and states at run time: their names and their plain form. How they start:
/// train/initialize.hpp.
namespace sinter::inline SINTER_TARGET {

/// `conv2d_1/kernel`.
SINTER_COLD inline std::string path_of(base::view<const compiler::scope_entry> scopes, const variable_info& v) {
    return path_of(scopes, v.scope, v.name);
}

} // namespace sinter
