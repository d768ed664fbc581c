// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/bytes.hpp>
#include <sinter/kernel/operands.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The largest of a sequence and the place of the first that is as large, lane by lane. A NaN
/// displaces everything, and nothing but a NaN displaces it.
struct first_max {
    vf best;
    vi place = vi{};
    SINTER_INLINE void see(vf v, int q) { see(v, splat(static_cast<std::int32_t>(q))); }
    SINTER_INLINE void see(vf v, vi q) {
        // min gives its second operand where either is NaN: one compare then tells NaN from
        // numbers, on both sides
        const vi displaces = ~(v <= min(best, splat(__builtin_inff())));
        best = displaces ? v : best;
        place = displaces ? q : place;
    }
};

/// Of four values: two and two do not wait for each other.
SINTER_INLINE first_max largest_of_four(vf a, vf b, vf c, vf d) {
    first_max m{a}, later{c, splat(std::int32_t{2})};
    m.see(b, 1);
    later.see(d, 3);
    m.see(later.best, later.place);
    return m;
}

/// Of N values, the first one's place being 0.
template <std::size_t N>
SINTER_INLINE first_max largest_of(const vf (&v)[N]) {
    if constexpr (N == 4) {
        return largest_of_four(v[0], v[1], v[2], v[3]);
    } else {
        first_max m{v[0]};
        for (int q = 1; q < static_cast<int>(N); ++q) m.see(v[q], q);
        return m;
    }
}

/// Hands a pooled vector (its first `Valid` lanes) to the body and notes its winners, if anyone
/// wants them.
template <class Body, int Valid, class Call>
SINTER_INLINE void emit_pooled(const first_max& m, std::int64_t off, std::int64_t row, int col, const Call& c) {
    constexpr int n = Valid < lanes ? Valid : lanes;
    if (c.p[conv_operand::winners])
        store_bytes<n>(reinterpret_cast<std::uint8_t*>(c.p[conv_operand::winners]) + off, m.place);
    if constexpr (n == lanes)
        Body::vector(m.best, off, row, col, c);
    else
        Body::vector(m.best, n, off, row, col, c);
}

} // namespace sinter::cpu
