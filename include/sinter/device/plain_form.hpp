// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>
#include <sinter/kernel/panels.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_TARGET::runtime {

/// The plain, row-major form of a variable, as files and users know it, from the form in the
/// kernels' memory.
inline std::vector<float> to_plain(const variable_info& v, const float* packed, int panel_width, int lanes) {
    std::vector<float> plain(static_cast<std::size_t>(v.s.size()));
    if (v.s.form == layout::weights && lanes > 1)
        unpack_panels(packed, plain.data(), v.s.rows(), v.s.last(), panel_width, lanes);
    else std::copy_n(packed, plain.size(), plain.data());
    return plain;
}
inline std::vector<float> from_plain(const variable_info& v, const float* plain, int panel_width, int lanes) {
    std::vector<float> packed(static_cast<std::size_t>(v.floats));
    if (v.s.form == layout::weights && lanes > 1)
        pack_panels(plain, packed.data(), v.s.rows(), v.s.last(), panel_width, lanes);
    else std::copy_n(plain, static_cast<std::size_t>(v.s.size()), packed.data());
    return packed;
}

} // namespace sinter::runtime
