// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <sinter/kernel/cpu/rowwise/body.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/detail/middle_moment.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// c.m blocks x [n][inner] with their m [inner] to [inner]: sums of x - m, (x - m)^2 or (x - m) d.
/// A column is one part's work, so always summed in the same order: some hundred rows, then the sums
/// of these, for a long sum of floats loses digits.
template <class Body>
struct middle_moment {
    static void run(const call& c) {
        const std::int64_t inner = c.e[moment_extent::inner], columns = c.e[extent::columns], rows = inner / columns;
        const std::int64_t end = share(c.m * rows, c.part + 1, c.parts);
        for (std::int64_t row = share(c.m * rows, c.part, c.parts); row < end; ++row) {
            const std::int64_t at = row / rows * c.e[moment_extent::n] * inner + row % rows * columns,
                               off = row * columns;
            std::int64_t j = 0;
            for (; j + several * lanes <= columns; j += several * lanes)
                sum<several, true>(at + j, off + j, row, j, lanes, c);
            for (; j + lanes <= columns; j += lanes) sum<1, true>(at + j, off + j, row, j, lanes, c);
            if (j < columns) sum<1, false>(at + j, off + j, row, j, static_cast<int>(columns - j), c);
        }
    }

private:
    static constexpr int several = 4;
    static constexpr std::int64_t rows_together = 512;
    /// V vectors of columns together: memory is read some lines at a time, and no sum waits for the
    /// one before. Of a single vector some rows are summed apart.
    template <int V, bool Full>
    static SINTER_INLINE void sum(std::int64_t at, std::int64_t off, std::int64_t row, std::int64_t col, int n,
                                  const call& c) {
        constexpr int rows = several / V;
        const std::int64_t inner = c.e[moment_extent::inner];
        const auto kind = static_cast<sinter::detail::moment>(c.e[moment_extent::kind]);
        vf s[std::size_t{rows * V}], m[std::size_t{V}], all[std::size_t{V}];
        clear_block(all);
        unroll<V>([&](int v)
                      SINTER_ALWAYS { m[v] = Body::template read<Full>(c.p[moment_operand::m] + off + v * lanes, n); });
        const auto add = [&](std::int64_t i, int r) SINTER_ALWAYS {
            const float *x = c.p[moment_operand::x] + at + i * inner, *d = c.p[moment_operand::d] + at + i * inner;
            unroll<V>([&](int v) SINTER_ALWAYS {
                const vf apart = Body::template read<Full>(x + v * lanes, n) - m[v];
                if (kind == sinter::detail::moment::distance) s[r * V + v] += apart;
                else
                    s[r * V + v] = fma(
                        apart,
                        kind == sinter::detail::moment::product ? Body::template read<Full>(d + v * lanes, n) : apart,
                        s[r * V + v]);
            });
        };
        for (std::int64_t i = 0; i < c.e[moment_extent::n];) {
            const std::int64_t rest = c.e[moment_extent::n] - i,
                               end = i + (rest < rows_together ? rest : rows_together);
            clear_block(s);
            for (; i + rows <= end; i += rows) unroll<rows>([&](int r) SINTER_ALWAYS { add(i + r, r); });
            for (; i < end; ++i) add(i, 0);
            unroll<V>([&](int v) SINTER_ALWAYS {
                vf some = s[v];
                unroll<rows - 1>([&](int r) SINTER_ALWAYS { some += s[(r + 1) * V + v]; });
                all[v] += some;
            });
        }
        unroll<V>([&](int v) SINTER_ALWAYS {
            if constexpr (Full) Body::vector(all[v], lanes, off + v * lanes, row, static_cast<int>(col) + v * lanes, c);
            else Body::vector(all[v], n, off, row, static_cast<int>(col), c);
        });
    }
};

template <class Body, int... X>
struct nest<op::middle_moment, Body, X...> { using type = middle_moment<Body>; };

} // namespace sinter::cpu
