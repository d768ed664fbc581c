// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/rowwise/body.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/prod.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

struct adds {
    static SINTER_INLINE vf both(vf a, vf b) { return a + b; }
};
struct takes_larger {
    static SINTER_INLINE vf both(vf a, vf b) { return max_or_nan(a, b); }
};
struct multiplies {
    static SINTER_INLINE vf both(vf a, vf b) { return a * b; }
    static SINTER_INLINE float lanes_of(vf v) {
        return detail::combine_lanes(v, [](auto a, auto b) SINTER_ALWAYS { return a * b; });
    }
};

/// Sum, maximum or product over axes in the middle: c.m blocks [n][inner] to [inner]. Over the
/// batch, too: one block [c.m][inner]. A column is one part's work, so always summed in the same
/// order: some hundred rows, then the sums of these, for a long sum of floats loses digits.
template <class Combine, class Body>
struct middle_reduction {
    static void run(const call& c) {
        const bool over_batch = c.e[middle_extent::over_batch];
        const std::int64_t n = over_batch ? c.m : c.e[middle_extent::n], blocks = over_batch ? 1 : c.m;
        const std::int64_t inner = c.e[middle_extent::inner], columns = c.e[extent::columns], rows = inner / columns;
        const std::int64_t end = share(blocks * rows, c.part + 1, c.parts);
        for (std::int64_t row = share(blocks * rows, c.part, c.parts); row < end; ++row) {
            const float* from = c.p[copy_operand::from] + row / rows * n * inner + row % rows * columns;
            if constexpr (requires { Combine::lanes_of(vf{}); })
                if (inner == 1) {   // what is combined lies side by side
                    Body::vector(splat(whole_row(from, n)), 1, row, row, 0, c);
                    continue;
                }
            const std::int64_t off = row * columns;
            std::int64_t j = 0;
            for (; j + several * lanes <= columns; j += several * lanes)
                side_by_side(from + j, n, inner, off + j, row, j, c);
            for (; j + lanes <= columns; j += lanes) one_vector<true>(from + j, n, inner, lanes, off + j, row, j, c);
            if (j < columns) one_vector<false>(from + j, n, inner, static_cast<int>(columns - j), off + j, row, j, c);
        }
    }

private:
    static constexpr int several = 4;
    static constexpr std::int64_t rows_together = 512;
    /// So many vectors of columns together: memory is read some lines at a time, and no sum waits
    /// for the one before.
    static SINTER_INLINE void side_by_side(const float* from, std::int64_t n, std::int64_t inner, std::int64_t off,
                                           std::int64_t row, std::int64_t col, const call& c) {
        vf all[several] = {};   // n is at least 1, which compilers do not know
        for (std::int64_t first = 0; first < n; first += rows_together, from += inner) {
            const std::int64_t end = first + rows_together < n ? first + rows_together : n;
            vf s[several];
            unroll<several>([&](int v) SINTER_ALWAYS { s[v] = load(from + v * lanes); });
            for (std::int64_t i = first + 1; i < end; ++i) {
                from += inner;
                unroll<several>([&](int v) SINTER_ALWAYS { s[v] = Combine::both(s[v], load(from + v * lanes)); });
            }
            unroll<several>([&](int v) SINTER_ALWAYS { all[v] = first ? Combine::both(all[v], s[v]) : s[v]; });
        }
        unroll<several>([&](int v) SINTER_ALWAYS {
            Body::vector(all[v], lanes, off + v * lanes, row, static_cast<int>(col) + v * lanes, c);
        });
    }
    /// Of a single vector some rows are combined apart, for the same reasons.
    template <bool Full>
    static SINTER_INLINE void one_vector(const float* from, std::int64_t n, std::int64_t inner, int there,
                                         std::int64_t off, std::int64_t row, std::int64_t col, const call& c) {
        vf all = zero();
        for (std::int64_t first = 0; first < n; first += rows_together) {
            const std::int64_t rest = n - first, rows = rest < rows_together ? rest : rows_together;
            const vf some = combined<Full>(from + first * inner, rows, inner, there);
            all = first ? Combine::both(all, some) : some;
        }
        if constexpr (Full) Body::vector(all, lanes, off, row, static_cast<int>(col), c);
        else Body::vector(all, there, off, row, static_cast<int>(col), c);
    }
    template <bool Full>
    static SINTER_INLINE vf combined(const float* from, std::int64_t n, std::int64_t inner, int there) {
        const auto next = [&](std::int64_t i)
                              SINTER_ALWAYS { return Body::template read<Full>(from + i * inner, there); };
        vf all = next(0);
        std::int64_t i = 1;
        if (n >= 2 * several) {
            vf s[several];
            unroll<several>([&](int k) SINTER_ALWAYS { s[k] = next(k); });
            for (i = several; i + several <= n; i += several)
                unroll<several>([&](int k) SINTER_ALWAYS { s[k] = Combine::both(s[k], next(i + k)); });
            all = Combine::both(Combine::both(s[0], s[1]), Combine::both(s[2], s[3]));
        }
        for (; i < n; ++i) all = Combine::both(all, next(i));
        return all;
    }
    static float whole_row(const float* from, std::int64_t n) {
        vf s = splat(1.f);
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) s = Combine::both(s, load(from + i));
        float r = Combine::lanes_of(s);
        for (; i < n; ++i) r *= from[i];
        return r;
    }
};

template <class Body, int... X>
struct nest<op::middle_sum, Body, X...> { using type = middle_reduction<adds, Body>; };
template <class Body, int... X>
struct nest<op::middle_max, Body, X...> { using type = middle_reduction<takes_larger, Body>; };
template <class Body, int... X>
struct nest<op::prod, Body, X...> { using type = middle_reduction<multiplies, Body>; };

} // namespace sinter::cpu
