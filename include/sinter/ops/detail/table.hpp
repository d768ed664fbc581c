// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/detail/leaves.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/gelu.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/tanh.hpp>
#include <utility>

/// All ops' rules as one table, for the passes.
namespace sinter {

struct op_info {
    const char* name;
    op_kind kind;
    bool monotone, epilogue;
    void (*gradient)(gradient_of&);
    long (*flops)(const node&, const node* operands);
};

namespace detail {
template <op K>
constexpr op_info describe_op() {
    using r = rule<K>;
    bool epilogue = false;
    if constexpr (r::kind == op_kind::heavy) epilogue = r::epilogue;
    return {r::name, r::kind, r::monotone, epilogue, &r::gradient, &r::flops};
}
template <class>
struct op_table;
template <int... I>
struct op_table<std::integer_sequence<int, I...>> {
    static constexpr op_info info[sizeof...(I)] = {describe_op<static_cast<op>(I)>()...};
};
} // namespace detail

constexpr const op_info& info(op k) {
    return detail::op_table<std::make_integer_sequence<int, op_count>>::info[static_cast<int>(k)];
}
constexpr bool is_leaf(op k) { return info(k).kind == op_kind::leaf; }
constexpr bool is_view(op k) { return info(k).kind == op_kind::view; }
constexpr bool is_heavy(op k) { return info(k).kind == op_kind::heavy; }

} // namespace sinter
