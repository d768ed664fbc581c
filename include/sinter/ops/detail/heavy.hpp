// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

namespace sinter {

/// Base of the rule of an op with a kernel of its own.
struct heavy_rule {
    static constexpr op_kind kind = op_kind::heavy;
    static constexpr bool monotone = false;
    static constexpr bool epilogue = true;    ///< its kernel hands each result to elementwise code before it is stored
    static constexpr long flops(const node&, const node*) { return 0; }
    static constexpr void gradient(gradient_of&) {}
};

/// Base of the rule of an op that is the same memory under another shape.
struct view_rule {
    static constexpr op_kind kind = op_kind::view;
    static constexpr bool monotone = false;
    static constexpr long flops(const node&, const node*) { return 0; }
    static constexpr void gradient(gradient_of&) {}
};

} // namespace sinter
