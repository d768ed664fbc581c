// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstddef>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::io {

/// A grey picture: `pixels` has height * width values, row by row from the top, 0 black to 1 white.
struct grey_image {
    std::size_t width = 0, height = 0;
    std::vector<float> pixels;
};

} // namespace sinter::io
