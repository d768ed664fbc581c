// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/span.hpp>
#include <string_view>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// How a framework names what layers own, and lays it out. One file for each framework fills this
/// in.
struct import_convention {
    struct renamed {
        std::string_view theirs, ours;
    };
    span<const renamed> tensors;           ///< the last part of a name; several lines: the first that the layer has
    span<const renamed> layers;            ///< a part before it, whatever number follows (`batch_norm_2`)
    span<const std::string_view> ignored;  ///< last parts of names that mean nothing here
    std::string_view dropped_ending;            ///< of names
    bool dots = false;                          ///< parts of names are divided by dots
    bool model_first = false;                   ///< a name may begin with the model's, which is not part of ours
    bool kernels_output_first = false;          ///< [out, in, window...] instead of [window..., in, out]
};

} // namespace sinter::training_parts
