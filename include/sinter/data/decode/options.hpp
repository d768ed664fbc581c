// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::data {

/// Which channels a decoded picture has. `as_stored`: those of the file. `grey`: one, as data::image::to_grey makes it.
/// `rgb`: three, equal ones where the file is grey.
enum class colours : std::uint8_t { as_stored, grey, rgb };

/// How a file becomes pixels, and what is refused.
struct decode_options {
    colours to = colours::rgb;
    std::uint64_t max_pixels = std::uint64_t{1} << 26;   ///< more are refused by the header, before memory is asked for
    int max_scans = 100;   ///< of a progressive JPEG: each scan costs a walk over the whole picture; usual are ten
};

} // namespace sinter::data
