// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/heavy.hpp>

/// Values that are there before a program runs.
namespace sinter {

template <>
struct rule<op::none> : view_rule {
    static constexpr op_kind kind = op_kind::leaf;
    static constexpr const char* name = "none";
};
template <>
struct rule<op::input> : rule<op::none> {   ///< p = {port, labels or indices must be below this, is it an image?}
    static constexpr const char* name = "input";
};
template <>
struct rule<op::parameter> : rule<op::none> {   ///< p = {number}
    static constexpr const char* name = "parameter";
};
template <>
struct rule<op::state> : rule<op::none> {   ///< p = {number}
    static constexpr const char* name = "state";
};
template <>
struct rule<op::constant> : rule<op::none> {   ///< f = value
    static constexpr const char* name = "constant";
};
template <>
struct rule<op::optimizer_port> : rule<op::none> {   ///< p = {0 parameter, 1 gradient, 2.. slots}
    static constexpr const char* name = "optimizer_port";
};
/// A number that changes from step to step: p = {its place in call::scalars}.
template <>
struct rule<op::runtime_scalar> : elementwise_rule<0, 0> {
    static constexpr const char* name = "runtime_scalar";
    static constexpr void gradient(gradient_of&) {}
};

} // namespace sinter
