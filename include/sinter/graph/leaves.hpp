// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/rules.hpp>

/// Values that are there before a program runs.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name input{"input"}, parameter{"parameter"}, state{"state"}, constant{"constant"},
    optimizer_port{"optimizer_port"}, table{"table"};
}

/// In node::p: labels or indices are below this (0: not said); is it an image; this number is
/// allowed too; is it a loss's weight. Of a lookup in a remote table
/// (compiler/passes/remote_tables.hpp): the table's number among parameters, + 1; the port of the
/// integers that name its rows.
namespace input_attribute { enum : int { port, below, image, also, weight, table, names_from }; }
/// Of parameters and states; of a remote table also its rows (-1: hashed), and hashed_options'
/// members.
namespace variable_attribute { enum : int { number, remote_rows, most_rows, admit_after, expire_after, full }; }
namespace optimizer_port_attribute { enum : int { operand }; }   // 0 parameter, 1 gradient, 2.. slots

template <>
struct rule<op::input> : leaf_rule {
    static constexpr const char* name = "input";
};
template <>
struct rule<op::parameter> : leaf_rule {
    static constexpr const char* name = "parameter";
};
template <>
struct rule<op::state> : leaf_rule {
    static constexpr const char* name = "state";
};
template <>
struct rule<op::constant> : leaf_rule {   ///< f = value
    static constexpr const char* name = "constant";
};
template <>
struct rule<op::table> : leaf_rule {   ///< node::fill, f = what it is told (table.hpp)
    static constexpr const char* name = "table";
};
template <>
struct rule<op::optimizer_port> : leaf_rule {
    static constexpr const char* name = "optimizer_port";
};

} // namespace sinter
