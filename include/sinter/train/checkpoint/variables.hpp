// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/joined.hpp>
#include <sinter/kernel/panels.hpp>
#include <sinter/compiler/program.hpp>
#include <algorithm>
#include <string>
#include <vector>

/// Parameters and states at run time: their names and their plain form. How they start: train/initialize.hpp.
namespace sinter::inline SINTER_TARGET {

/// `conv2d_1/kernel`.
SINTER_COLD inline std::string path_of(view<const scope_entry> scopes, const variable_info& v) {
    std::string path;
    for (int s = v.scope; s > 0; s = scopes[s].parent) {
        std::string part = scopes[s].name;
        if (scopes[s].number) part = joined({part, "_", scopes[s].number});
        path = path.empty() ? part : joined({part, "/", path});
    }
    return path.empty() ? v.name : joined({path, "/", v.name});
}

inline std::vector<std::int64_t> extents_of(const shape& s) { return {s.d, s.d + s.rank}; }

/// The plain, row-major form of a variable, as files and users know it, from the form in the kernels' memory.
inline std::vector<float> to_plain(const variable_info& v, const float* packed, int panel_width, int lanes) {
    std::vector<float> plain(static_cast<std::size_t>(v.s.size()));
    if (v.s.form == layout::weights && lanes > 1) unpack_panels(packed, plain.data(), v.s.rows(), v.s.last(), panel_width, lanes);
    else std::copy_n(packed, plain.size(), plain.data());
    return plain;
}
inline std::vector<float> from_plain(const variable_info& v, const float* plain, int panel_width, int lanes) {
    std::vector<float> packed(static_cast<std::size_t>(v.floats));
    if (v.s.form == layout::weights && lanes > 1) pack_panels(plain, packed.data(), v.s.rows(), v.s.last(), panel_width, lanes);
    else std::copy_n(plain, static_cast<std::size_t>(v.s.size()), packed.data());
    return packed;
}

} // namespace sinter
