// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/graph/scope_entry.hpp>
#include <sinter/base/array.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/graph/shape.hpp>
#include <string>
#include <vector>

/// What files call a variable, and how they spell its extents.
namespace sinter::inline SINTER_ORDINARY::facts {

/// `conv2d_1/kernel` for what is called `name` in a scope; with no name the scope itself,
/// `conv2d_1/`.
SINTER_COLD inline std::string path_of(base::view<const scope_entry> scopes, int scope, const char* name) {
    std::string path;
    for (int s = scope; s > 0; s = scopes[s].parent) {
        std::string part = scopes[s].name;
        if (scopes[s].number) part = to_text({part, "_", scopes[s].number});
        path = path.empty() ? part : to_text({part, "/", path});
    }
    return path.empty() ? name : to_text({path, "/", name});
}

inline std::vector<std::int64_t> extents_of(const shape& s) { return {s.d, s.d + s.rank}; }

} // namespace sinter::facts
namespace sinter::inline SINTER_TARGET::compiler {
using facts::extents_of;
using facts::path_of;
} // namespace sinter::compiler
