// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/heavy.hpp>

/// y = a under larger extents, NumPy's broadcast_to. Read in place wherever kernels can. ONNX: Expand.
namespace sinter {

template <>
struct rule<op::broadcast> : elementwise_rule<1, 0> {
    static constexpr const char* name = "broadcast";
    template <class V>
    static SINTER_VALUE V value(V a) { return a; }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};

/// The same as a copy in memory, for patterns that are not "some leading and some trailing axes".
template <>
struct rule<op::expand> : heavy_rule {
    static constexpr const char* name = "expand";
    static constexpr bool epilogue = false;
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};

} // namespace sinter
