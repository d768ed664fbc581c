// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/gradient.hpp>

namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name get_output{"get_output"};
}

/// In node::p: which, from 1; its integers are below this (0: not known).
namespace get_output_attribute { enum : int { number, below }; }

/// A further result of its operand.
template <>
struct rule<op::get_output> : view_rule {
    static constexpr op_kind kind = op_kind::get_output;
    static constexpr const char* name = "get_output";
    static constexpr bool moves = false;
    static constexpr int below(const node& n) { return n.p[get_output_attribute::below]; }
    static constexpr void
    gradient(gradient_of& g) {   // integers have none; a gradient found along with the value lacks one
        if (g.n().s.type == dtype::f32) g.refuse(g.g->n[g.n().in[0]]);
    }
};

} // namespace sinter
