// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE kernel_matmul
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "products.hpp"
#include <sinter/device/arena.hpp>
#include <sinter/kernel/cpu/copy/repack.hpp>
#include <sinter/kernel/cpu/gemm/matmul.hpp>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::test;
using cpu::lanes;
using cpu::panel_width;

namespace {

struct batch {
    std::int64_t matrices, stride_a, stride_b, inner, outer_a, outer_b;
};

template <bool TransA, bool TransB>
void check(std::int64_t M, std::int64_t N, std::int64_t K, batch s) {
    const std::int64_t step_a = (TransA ? M : K) + 1, step_b = (TransB ? K : N) + 2;
    const auto begin = [&](std::int64_t b, std::int64_t within, std::int64_t between) {
        return s.inner > 1 ? b / s.inner * between + b % s.inner * within : b * within;
    };
    const std::int64_t last = s.matrices - 1;
    const auto most = [&](std::int64_t within, std::int64_t between) {
        std::int64_t far = 0;
        for (std::int64_t b = 0; b <= last; ++b) far = std::max(far, begin(b, within, between));
        return far;
    };
    // Just large enough, so that an address sanitiser sees every read too far.
    const std::int64_t size_a = (TransA ? K - 1 : M - 1) * step_a + (TransA ? M : K);
    const std::int64_t size_b = (TransB ? N - 1 : K - 1) * step_b + (TransB ? K : N);
    const floats a = random_floats(static_cast<std::size_t>(most(s.stride_a, s.outer_a) + size_a), 1);
    const floats b = random_floats(static_cast<std::size_t>(most(s.stride_b, s.outer_b) + size_b), 2);
    const auto go = [&](int parts) {
        return run<cpu::matmul<TransA, TransB, store_body>>(
            a, b, static_cast<std::size_t>(s.matrices * M * N),
            {M, N, K, s.stride_a, s.stride_b, step_a, step_b, s.inner, s.outer_a, s.outer_b},
            static_cast<int>(s.matrices), parts);
    };
    const outcome r = go(1);
    for (std::int64_t q = 0; q < s.matrices; ++q)
        for (std::int64_t i = 0; i < M; ++i)
            for (std::int64_t j = 0; j < N; ++j) {
                const auto at = static_cast<std::size_t>((q * M + i) * N + j);
                const std::int64_t a0 = begin(q, s.stride_a, s.outer_a), b0 = begin(q, s.stride_b, s.outer_b);
                const double want = dot(
                    K, [&](auto t) {
                        return a[static_cast<std::size_t>(a0 + (TransA ? t * step_a + i : i * step_a + t))];
                    },
                    [&](auto t) {
                        return b[static_cast<std::size_t>(b0 + (TransB ? j * step_b + t : t * step_b + j))];
                    });
                if (std::abs(r.value[at] - want) > tolerance(K) || r.row[at] != static_cast<float>(q * M + i) ||
                    r.col[at] != static_cast<float>(j) || r.visits[at] != 1)
                    BOOST_FAIL("matmul " << M << "x" << N << "x" << K << " matrix " << q << " at " << i << "," << j
                                         << ": " << r.value[at] << " wanted " << want);
            }
    for (int parts = 2; parts <= 5; ++parts) BOOST_TEST((go(parts) == r));
}

void check_all(std::int64_t M, std::int64_t N, std::int64_t K, batch s) {
    check<false, false>(M, N, K, s);
    check<true, false>(M, N, K, s);
    check<false, true>(M, N, K, s);
    check<true, true>(M, N, K, s);
}

} // namespace

BOOST_AUTO_TEST_CASE(matmul_of_many_sizes) {
    for (std::int64_t M : {1, 3, 4, 6, 7, 12, 17, 64})
        for (std::int64_t N : {1, 3, 8, 13, 16, 17, 32, 70})
            for (std::int64_t K : {1, 2, 9, 16, 41}) check_all(M, N, K, {1, 0, 0, 1, 0, 0});
}

BOOST_AUTO_TEST_CASE(batches_and_broadcasts) {
    for (std::int64_t n : {2, 3, 7}) {
        check_all(5, 9, 4, {n, 100, 200, 1, 0, 0});
        check_all(5, 9, 4, {n, 0, 200, 0, 0, 0});
        check_all(17, 20, 8, {n, 1000, 0, 1, 0, 0});
    }
    check_all(7, 10, 6, {6, 80, 90, 3, 300, 400});
    check_all(7, 10, 6, {6, 80, 0, 3, 300, 400});   // shared within a group
    check_all(7, 10, 6, {6, 80, 90, 2, 300, 0});    // shared by the groups
}

BOOST_AUTO_TEST_CASE(deep_products) {
    check_all(45, 70, 2 * cpu::least_copied_depth + 1, {1, 0, 0, 1, 0, 0});
    check_all(70, 20, cpu::gathered_floats / panel_width + 3, {1, 0, 0, 1, 0, 0});
    check_all(3, panel_width, cpu::streamed_floats / panel_width + 3, {1, 0, 0, 1, 0, 0});
    check_all(31, 40, cpu::a_page - 1, {1, 0, 0, 1, 0, 0});   // rows a page apart
}

void check_transposed_panels(std::int64_t K, std::int64_t N, int most_parts) {
    const floats b = random_floats(static_cast<std::size_t>(K * N), 8);
    floats t(b.size());
    for (std::int64_t i = 0; i < K * N; ++i)
        t[static_cast<std::size_t>(i % N * K + i / N)] = b[static_cast<std::size_t>(i)];
    floats from(static_cast<std::size_t>(panel_floats(K, N, lanes)));
    floats want(static_cast<std::size_t>(panel_floats(N, K, lanes)));
    pack_panels(b.data(), from.data(), K, N, panel_width, lanes);
    pack_panels(t.data(), want.data(), N, K, panel_width, lanes);
    for (int parts = 1; parts <= most_parts; ++parts) {
        arena to(static_cast<std::int64_t>(want.size()));   // aligned, as plans place it
        std::fill_n(to.data(), to.size(), 99.f);
        float* p[] = {from.data(), to.data()};
        const std::int64_t e[] = {K, N};
        call c;
        c.p = p;
        c.e = e;
        c.parts = parts;
        for (c.part = 0; c.part < parts; ++c.part) cpu::transpose_panels::run(c);
        BOOST_TEST(std::equal(want.begin(), want.end(), to.data()));
    }
}

BOOST_AUTO_TEST_CASE(transposed_panels) {
    for (std::int64_t K : {1, 2, 7, 8, 9, 16, 17, 40, 65})
        for (std::int64_t N : {1, 3, 8, 10, 16, 23, 32, 33, 70}) check_transposed_panels(K, N, 5);
}
BOOST_AUTO_TEST_CASE(transposed_panels_past_the_caches) {
    const std::int64_t N = 2059;
    static_assert(N * 2061 >= cpu::transpose_panels::far);
    check_transposed_panels(2061, N, 2);
}

BOOST_AUTO_TEST_CASE(transposed_matrices) {
    for (std::int64_t R : {1, 2, 7, 8, 9, 16, 33})
        for (std::int64_t C : {1, 3, 8, 10, 17, 32})
            for (int m : {1, 3}) {
                floats a = random_floats(static_cast<std::size_t>(m * R * C), 9), want(a.size());
                for (std::int64_t i = 0; i < m * R * C; ++i) {
                    const std::int64_t b = i / (R * C), r = i / C % R, k = i % C;
                    want[static_cast<std::size_t>((b * C + k) * R + r)] = a[static_cast<std::size_t>(i)];
                }
                for (int parts = 1; parts <= 5; ++parts) {
                    floats to(a.size(), 99.f);
                    float* p[] = {a.data(), to.data()};
                    const std::int64_t e[] = {R, C};
                    call c;
                    c.p = p;
                    c.e = e;
                    c.m = m;
                    c.parts = parts;
                    for (c.part = 0; c.part < parts; ++c.part) cpu::transpose::run(c);
                    BOOST_TEST(to == want);
                }
            }
}
