// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/rotary.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Cosines and sines are [2][places][pairs]. c.m rows of two elements a pair, `heads` of them at
/// each place.
template <bool Halves, bool Backwards>
struct rotary {
    static void run(const call& c) {
        using enum rotary_operand::position;
        const std::int64_t places = c.e[rotary_extent::places], heads = c.e[rotary_extent::heads],
                           n = c.e[rotary_extent::pairs];
        const std::int64_t end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t row = share(c.m, c.part, c.parts); row < end; ++row) {
            const float* const from = c.p[x] + row * 2 * n;
            const float* const cosine = c.p[angles] + row / heads % places * n;
            rotate(from, cosine, cosine + places * n, n, c.p[y] + row * 2 * n);
        }
    }

private:
    static void rotate(const float* x, const float* cosine, const float* sine, std::int64_t n, float* y) {
        std::int64_t i = 0;
        if constexpr (Halves)
            for (; i + lanes <= n; i += lanes) {
                const vf a = load(x + i), b = load(x + n + i), co = load(cosine + i),
                         si = Backwards ? -load(sine + i) : load(sine + i);
                store(y + i, a * co - b * si);
                store(y + n + i, a * si + b * co);
            }
        for (; i < n; ++i) {
            const std::int64_t first = Halves ? i : 2 * i, second = Halves ? n + i : first + 1;
            const float a = x[first], b = x[second], si = Backwards ? -sine[i] : sine[i];
            y[first] = a * cosine[i] - b * si;
            y[second] = a * si + b * cosine[i];
        }
    }
};

template <class Body, int Halves, int Backwards, int... X>
struct nest<op::rotary, Body, Halves, Backwards, X...> { using type = rotary<(Halves != 0), (Backwards != 0)>; };

} // namespace sinter::cpu
