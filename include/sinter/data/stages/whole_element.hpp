// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// What a stage asks for of an element, where it is asked for nothing else.
struct whole_element {
    template <class T>
    const T& operator()(const T& e) const {
        return e;
    }
};

} // namespace sinter::data::stage_parts
