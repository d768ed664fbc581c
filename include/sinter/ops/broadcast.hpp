// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/strides.hpp>

/// y = a under larger extents, NumPy's broadcast_to. Read in place wherever kernels can. ONNX:
/// Expand.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name broadcast{"broadcast"}, expand{"expand"};
}

template <>
struct rule<op::broadcast> : elementwise_rule<1, 0> {
    static constexpr bool identity = true;
    static constexpr const char* name = "broadcast";
    template <class V>
    static SINTER_VALUE V value(V a) { return a; }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};

/// The same as a copy in memory, for patterns that are not "some leading and some trailing axes".
template <>
struct rule<op::expand> : root_op_rule {
    static constexpr const char* name = "expand";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const shape &from = r.x(0), &to = r.y();
        const step_list own = natural_steps(from);
        step_list t;
        for (int i = 1; i <= from.rank; ++i)
            if (from.d[from.rank - i] != 1) t.step[to.rank - i] = own.step[from.rank - i];
        set_steps(k, to, t);
        k.e[strided::example] = from.batched ? from.size() : 0;
        k.by_example(to, 1);
    }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};

namespace ops {

/// A copy of `a` under the extents `s`, for the rare patterns that kernels cannot read in place.
constexpr tensor expand(tensor a, const shape& s) {
    return compiler::map_operand(a.shape(), s).valid ? a : make<op::expand>(a.g, s, {a});
}
constexpr bool stretches_to(const shape& from, const shape& to) {
    if (from.rank > to.rank || (from.batched && (!to.batched || from.rank < to.rank))) return false;
    for (int i = 1; i <= from.rank; ++i)
        if (const int d = from.d[from.rank - i]; d != 1 && d != to.d[to.rank - i]) return false;
    return true;
}
/// `a` under larger extents: read in place by whoever uses it.
constexpr tensor broadcast_to(tensor a, const shape& s) {
    if (!a.ok() || a.shape() == s) return a;
    if (!stretches_to(a.shape(), s)) return fail_to_broadcast(a.g, op::broadcast, a.shape(), s);
    return make<op::broadcast>(a.g, s, {expand(unpack(a), s)});
}

} // namespace ops
using ops::broadcast_to;

} // namespace sinter
