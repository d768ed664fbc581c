// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sinusoidal_positions.hpp>

/// rotary(x, {...}): rotary position embedding (Su et al. 2021). Each pair of a head's elements at
/// place t is turned by the angle t * base^(-2i/D), so that products of queries and keys depend on
/// their distance alone. [T, H, D] -> [T, H, D], or [T, H D] with heads = H. ONNX: RotaryEmbedding
/// (opset 23).
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name rotary{"rotary"}; }

struct rotary_options {
    int heads = 1;                                  ///< where heads have no axis of their own
    position_pairs pairs =
        position_pairs::halves;   ///< as LLaMA's and GPT-NeoX's code; neighbours: the paper's, GPT-J's
    float base = 10'000;
};

namespace rotary_attribute { enum : int { heads, halves, backwards }; }   // in node::p
namespace rotary_fixed { enum : int { halves, backwards }; }              // in spec::extents
namespace rotary_extent { enum : int { places, heads, pairs }; }          // in call::e
namespace rotary_operand { enum position : int { x, angles, y }; }                 // in call::p

/// Operands: x, cosines and sines [2, T, D / 2].
template <>
struct rule<op::rotary> : root_op_rule {
    static constexpr const char* name = "rotary";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node*) { return 3L * n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const shape& angles = r.x(1);
        const int heads = r.n.p[rotary_attribute::heads];
        k.set_fixed({r.n.p[rotary_attribute::halves], r.n.p[rotary_attribute::backwards]});
        k.set(
            {{rotary_extent::places, angles.d[1]}, {rotary_extent::heads, heads}, {rotary_extent::pairs, angles.d[2]}});
        k.by_example(r.y(), angles.d[1] * heads);
    }
    static constexpr void gradient(gradient_of& g) {   // turned back
        node n = g.n();
        n.p[rotary_attribute::backwards] = !n.p[rotary_attribute::backwards];
        g.add(0, make<op::rotary>(g.g, n.s, {g.d, g.x(1)}, n.p));
    }
};

namespace detail {
inline void fill_rotations(float* to, const shape& s, float base) {
    for (int part = 0; part < 2; ++part)
        for (int t = 0; t < s.d[1]; ++t)
            for (int i = 0; i < s.d[2]; ++i) {
                const double angle = t * __builtin_pow(static_cast<double>(base), -static_cast<double>(i) / s.d[2]);
                *to++ = static_cast<float>(part ? __builtin_sin(angle) : __builtin_cos(angle));
            }
}
} // namespace detail

namespace ops {

constexpr tensor rotary(tensor x, rotary_options o = {}) {
    if (!x.ok() || not_floats(op::rotary, x)) return {x.g, -1};
    x = unpack(x);
    const shape s = x.shape();
    const int heads = s.rank == 3 ? s.d[1] : o.heads;
    if (s.rank < 2 || s.rank > 3 || heads < 1 || s.size() / s.d[0] % (2 * heads) || (s.rank == 3 && s.d[2] % 2))
        return fail(x.g, fault_kind::heads_do_not_fit, op::rotary, s, extents(heads, 2));
    const tensor angles =
        table(x, extents(2, s.d[0], s.size() / (2 * s.d[0] * heads)), sinter::detail::fill_rotations, o.base);
    return make<op::rotary>(x.g, s, {x, angles}, {heads, o.pairs == position_pairs::halves, 0});
}

} // namespace ops
using ops::rotary;

} // namespace sinter
