// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/finish.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/sparse_gradient.hpp>
#include <sinter/kernel/cpu/transposed_product.hpp>

namespace sinter::cpu {

/// dW[K][N] = sum over m rows of A[m][K]^T D[m][N], the gradient of a layer's weights.
/// p[0] = A and p[1] = D, row-major; e = {K, N}. c.m = m >= 1.
/// The body's off is that of the packed [K][N] (panels.hpp), row = k, col = j. It always gets whole vectors: in the
/// padding columns acc is exactly zero. It sees every element once, so it may hold the optimizer's update.
/// Zeros of D are skipped where they are many.
template <class Body>
struct gemm_tn {
    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body, true>();
        const std::int64_t K = c.e[0], N = c.e[1];
        const product q{c.p[0], 1, K, c.p[1], N, right::rows, K, N, c.m, true, 0, 0};
        if (is_sparse_gradient(q)) run_share(q, f, c, run_sparse_gradient);
        else if (q.depth < least_packed_depth) run_share(q, f, c, run_tiles);
        else run_transposed_product(q, f, c, c.part, c.parts);
    }
};

template <class Body, int... X>
struct nest<op::gemm_tn, Body, X...> { using type = gemm_tn<Body>; };

} // namespace sinter::cpu
