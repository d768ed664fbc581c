// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// Between [batch][T][...] and [T][batch][...], in which loops go through time.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name to_steps{"to_steps"}, from_steps{"from_steps"};
}

namespace steps_extent { enum : int { steps, width }; }   // in call::e: floats of a step of one example

template <>
struct rule<op::from_steps> : root_op_rule {
    static constexpr const char* name = "from_steps";
    static constexpr bool epilogue = false, steps = true, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{steps_extent::steps, r.y().d[0]}, {steps_extent::width, r.y().size() / r.y().d[0]}});
        k.by_example(r.y(), r.y().d[0]);
    }
    static constexpr void gradient(gradient_of& g);
};
template <>
struct rule<op::to_steps> : rule<op::from_steps> {
    static constexpr const char* name = "to_steps";
    static constexpr void gradient(gradient_of& g) { g.add(0, from_steps(g.d)); }
};

constexpr tensor from_steps(tensor a) {
    return a.ok() && a.shape().form == layout::steps ? make<op::from_steps>(a.g, a.shape().plain(), {a}) : a;
}

namespace ops {

constexpr tensor plain(tensor a) { return from_steps(unpack(a)); }

/// x [T, ...] as the steps of a loop; without a batch it is that already. The first axis is time,
/// and there is another.
constexpr tensor to_steps(tensor x) {
    if (!x.ok() || !x.shape().batched || x.shape().form == layout::steps) return x;
    shape s = x.shape();
    s.form = layout::steps;
    return make<op::to_steps>(x.g, s, {x});
}

} // namespace ops

constexpr void rule<op::from_steps>::gradient(gradient_of& g) { g.add(0, ops::to_steps(g.d)); }

} // namespace sinter
