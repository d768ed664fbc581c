// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/finish.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/sparse_gradient.hpp>
#include <sinter/kernel/cpu/sparse_inputs.hpp>

namespace sinter::cpu {

/// dW[K][N] = sum over m rows of A[m][K]^T D[m][N], the gradient of a layer's weights.
/// p[0] = A and p[1] = D, row-major; e = {K, N}. c.m = m >= 1.
/// The body's off is that of the packed [K][N] (panels.hpp), row = k, col = j. It always gets whole vectors: in the
/// padding columns acc is exactly zero. It sees every element once, so it may hold the optimizer's update.
/// Zeros of A or of D are skipped where they are many. Before a deep sum A is transposed: a tile reads a few columns of it,
/// of each row a part of a line, and does so again for each panel of D.
template <class Body>
struct gemm_tn {
    static constexpr bool only_divides = true;
    static constexpr std::int64_t deep = 128, wide = 4 * panel_width;   ///< from where on that pays

    static constexpr bool transposes(const std::int64_t* e, std::int64_t m) { return m >= deep && e[1] >= wide; }
    static constexpr std::int64_t row_step(std::int64_t m) { return round_up(m, 16) + 16; }   ///< rows begin in different sets of a cache
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) {
        return transposes(e, m) ? round_up(e[0], lanes) * row_step(m) : 0;
    }
    static void prepare(const call& c) {
        if (!transposes(c.e, c.m)) return;
        const std::int64_t K = c.e[0], strips = (K + panel_width - 1) / panel_width;
        const std::int64_t begin = share(strips, c.part, c.parts) * panel_width, end = share(strips, c.part + 1, c.parts) * panel_width;
        transpose_matrix(c.p[0] + begin, K, c.m, (end < K ? end : K) - begin, c.scratch + begin * row_step(c.m), row_step(c.m), false);
    }
    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body, true>();
        const std::int64_t K = c.e[0], N = c.e[1];
        product q{c.p[0], 1, K, c.p[1], N, right::rows, K, N, c.m, true, 0, 0};
        if (is_done(f, c)) return;   // before zeros are looked for
        const float behind = gradient_share(q), before = input_share(q);
        if (before < behind && before <= sparse_share) return run_share(q, f, c, run_sparse_inputs);
        if (behind <= sparse_share) return run_share(q, f, c, run_sparse_gradient);
        if (transposes(c.e, c.m)) q.a = c.scratch, q.row_step = row_step(c.m), q.sum_step = 1;
        run_share(q, f, c, run_tiles);
    }
};

template <class Body, int... X>
struct nest<op::gemm_tn, Body, X...> { using type = gemm_tn<Body>; };

} // namespace sinter::cpu
