// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/detail/interpolation_axis.hpp>
#include <sinter/ops/interpolate.hpp>

/// Lines [n][inner] with another number of places along the n, c.m lines.
namespace sinter::inline SINTER_TARGET::cpu {

/// Where all new places lie, worked out once for all lines of a part.
struct interpolation_places {
    static constexpr std::int64_t workspace(const std::int64_t* e) {
        return round_up(2 * e[interpolate_extent::to] + e[interpolate_extent::from] + 2, 16);
    }
    explicit interpolation_places(const call& c) {
        const interpolation_axis a(c.e);
        share = c.scratch + c.part * workspace(c.e);
        first = reinterpret_cast<std::int32_t*>(share + a.to);
        start = first + a.to;
        std::int64_t i = 0;
        for (std::int64_t k = 0; k < a.to; ++k) {
            const auto p = a.at(k);
            share[k] = p.share;
            first[k] = static_cast<std::int32_t>(p.first);
            while (i <= p.next) start[i++] = static_cast<std::int32_t>(k);
        }
        while (i < a.from + 2) start[i++] = static_cast<std::int32_t>(a.to);
    }
    float of(std::int64_t i, std::int64_t k) const { return i == first[k] ? 1.f - share[k] : share[k]; }

    float* share;
    std::int32_t *first, *start;   ///< start: the first new place that has something of an old one, or of a later one
};
struct with_interpolation_places {
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * interpolation_places::workspace(e);
    }
};

/// Calls f(line, place, row) for the rows of this part, of which a line has one for each of n
/// places.
template <class F>
SINTER_INLINE void each_row(const call& c, std::int64_t n, F f) {
    const std::int64_t begin = share(c.m * n, c.part, c.parts), end = share(c.m * n, c.part + 1, c.parts);
    std::int64_t line = begin / n, place = begin % n;
    for (std::int64_t row = begin; row < end; ++row) {
        f(line, place, row);
        if (++place == n) place = 0, ++line;
    }
}
/// Calls f(where, vectors, how to reach one of them) for n floats, up to four vectors at a time.
struct whole_vector {
    static SINTER_INLINE vf read(const float* p) { return load(p); }
    static SINTER_INLINE void write(float* p, vf v) { store(p, v); }
};
struct some_lanes {
    int n;
    SINTER_INLINE vf read(const float* p) const { return load(p, n); }
    SINTER_INLINE void write(float* p, vf v) const { store(p, v, n); }
};
template <class F>
SINTER_INLINE void each_block(std::int64_t n, F f) {
    constexpr int most = 4;
    std::int64_t j = 0;
    for (; j + most * lanes <= n; j += most * lanes) f(j, std::integral_constant<int, most>{}, whole_vector{});
    for (; j + lanes <= n; j += lanes) f(j, std::integral_constant<int, 1>{}, whole_vector{});
    if (j < n) f(j, std::integral_constant<int, 1>{}, some_lanes{static_cast<int>(n - j)});
}

struct interpolation : with_interpolation_places {
    static void run(const call& c) {
        const interpolation_places at(c);
        const std::int64_t inner = c.e[interpolate_extent::inner], from = c.e[interpolate_extent::from];
        const std::int64_t from_line = from * inner, next = from > 1 ? inner : 0;   // of a single place it is itself
        each_row(c, c.e[interpolate_extent::to],
                 [&](std::int64_t line, std::int64_t k, std::int64_t row) SINTER_ALWAYS {
                     const float* const first = c.p[copy_operand::from] + line * from_line + at.first[k] * inner;
                     between(first, first + next, splat(at.share[k]), c.p[copy_operand::to] + row * inner, inner);
                 });
    }

private:
    static void between(const float* first, const float* next, vf share, float* to, std::int64_t n) {
        const vf rest = splat(1.f) - share;
        each_block(n, [&](std::int64_t j, auto vectors, auto lanes_of) SINTER_ALWAYS {
            unroll<vectors>([&](int i) SINTER_ALWAYS {
                const std::int64_t at = j + i * lanes;
                lanes_of.write(to + at, fma(share, lanes_of.read(next + at), rest * lanes_of.read(first + at)));
            });
        });
    }
};
/// From the new places' numbers the old ones' sums, in the new places' order.
struct interpolation_gradient : with_interpolation_places {
    static void run(const call& c) {
        const interpolation_places at(c);
        const std::int64_t inner = c.e[interpolate_extent::inner], from_line = c.e[interpolate_extent::to] * inner;
        each_row(c, c.e[interpolate_extent::from],
                 [&](std::int64_t line, std::int64_t i, std::int64_t row) SINTER_ALWAYS {
                     sum(at, i, c.p[copy_operand::from] + line * from_line, c.p[copy_operand::to] + row * inner, inner);
                 });
    }

private:
    static void sum(const interpolation_places& at, std::int64_t i, const float* from, float* to, std::int64_t inner) {
        constexpr int most = 8;   // new places at a time
        float shares[most];
        const std::int64_t end = at.start[i + 2];
        std::int64_t k = at.start[i];
        bool first = true;
        do {
            const int n = static_cast<int>(end - k < most ? end - k : most);
            for (int t = 0; t < n; ++t) shares[t] = at.of(i, k + t);
            each_block(inner, [&](std::int64_t j, auto vectors, auto lanes_of) SINTER_ALWAYS {
                vf s[vectors];
                unroll<vectors>([&](int v)
                                    SINTER_ALWAYS { s[v] = first ? zero() : lanes_of.read(to + j + v * lanes); });
                const float* x = from + k * inner + j;
                for (int t = 0; t < n; ++t, x += inner)
                    unroll<vectors>(
                        [&](int v) SINTER_ALWAYS { s[v] = fma(splat(shares[t]), lanes_of.read(x + v * lanes), s[v]); });
                unroll<vectors>([&](int v) SINTER_ALWAYS { lanes_of.write(to + j + v * lanes, s[v]); });
            });
            k += n;
            first = false;
        } while (k < end);
    }
};

template <class Body, int... X>
struct nest<op::interpolate, Body, X...> { using type = interpolation; };
template <class Body, int... X>
struct nest<op::interpolate_gradient, Body, X...> { using type = interpolation_gradient; };

} // namespace sinter::cpu
