// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE kernel_pipelined_epilogue
#include <boost/test/unit_test.hpp>

#include "products.hpp"
#include <sinter/kernel/cpu/gemm/pipelined_epilogue.hpp>
#include <sinter/kernel/cpu/gemm/dense/gemm.hpp>

/// Products that finish each tile while the next one is summed, against sums in double and, to the
/// bit, against the other loops.
using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::test;
using cpu::panel_width;

namespace {

struct costly_body : tile_body {
    static constexpr int operations = 12;
    static void two_vectors(cpu::vf left, cpu::vf right, std::int64_t off, std::int64_t row, int col, const call& c) {
        vector(left, off, row, col, c);
        vector(right, off + cpu::lanes, row, col + cpu::lanes, c);
    }
    static void prefetch(int, int, std::int64_t, std::int64_t, const call&) {}
};
struct cheap_body : costly_body { static constexpr int operations = 2; };
struct summing_body : costly_body { static constexpr int sums = 1; };

struct following {   // whatever the target's registers
    static void run(const call& c) {
        cpu::product q{c.p[0], c.e[2], 1, c.p[1], 0, cpu::right::panels, c.m, c.e[1], c.e[0], false, 0, 0};
        q.by_rows = c.e[5];
        BOOST_REQUIRE(cpu::suits_pipelining(q));
        cpu::run_pipelined_share<costly_body>(q, {cpu::finish_tile<costly_body>}, c);
    }
};

void check(std::int64_t m, std::int64_t K, std::int64_t N) {
    const std::int64_t step = K + 3;
    const auto n = static_cast<std::size_t>(m * N);
    const floats a = random_floats(static_cast<std::size_t>(m * step), 1),
        b = random_floats(static_cast<std::size_t>(K * N), 2);
    floats packed(static_cast<std::size_t>(panel_floats(K, N, cpu::lanes)), 99.f);
    pack_panels(b.data(), packed.data(), K, N, panel_width, cpu::lanes);
    const auto go = [&](int parts, int threads, bool by_rows = false) {
        return run<following>(a, packed, n, {K, N, step, 0, 0, by_rows}, static_cast<int>(m), parts, threads);
    };
    const outcome r = go(1, 0);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < N; ++j) {
            const double want = dot(K, [&](auto t) { return a[static_cast<std::size_t>(i * step + t)]; },
                                    [&](auto t) { return b[static_cast<std::size_t>(t * N + j)]; });
            if (const auto at = static_cast<std::size_t>(i * N + j);
                std::abs(r.value[at] - want) > tolerance(K) || r.row[at] != static_cast<float>(i) ||
                r.col[at] != static_cast<float>(j) || r.visits[at] != 1)
                BOOST_FAIL(m << "x" << K << "x" << N << " at " << i << "," << j << ": " << r.value[at] << " wanted "
                           << want);
        }
    const auto other = [&](auto kernel) {
        return run<decltype(kernel)>(a, packed, n, {K, N, step}, static_cast<int>(m), 1);
    };
    BOOST_TEST((other(cpu::gemm<store_body>{}) == r));
    BOOST_TEST((other(cpu::gemm<costly_body>{}) == r));
    for (int parts : {2, 3, 8}) BOOST_TEST((go(parts, 0) == r && go(parts, 0, true) == r));
    for (int threads : {1, 2, 3, 5}) BOOST_TEST((go(8, threads) == r && go(8, threads, true) == r));
}

} // namespace

BOOST_AUTO_TEST_CASE(all_rests_of_rows) {
    for (std::int64_t m = cpu::small_tile_rows; m < 4 * cpu::small_tile_rows + 2; ++m)
        for (std::int64_t K : {32, 33, 47, 64})
            for (std::int64_t panels : {1, 2, 3}) check(m, K, panels * panel_width);
}
BOOST_AUTO_TEST_CASE(weights_that_no_cache_holds) {   // the next panel is prefetched
    for (std::int64_t m : {8, 31, 32, 100, 130}) check(m, 600, 4 * panel_width);
    check(16, 2048, panel_width * 2);
}
BOOST_AUTO_TEST_CASE(blocks_of_many_rows) {
    check(300, 128, 3 * panel_width);
    check(517, 100, 2 * panel_width);
}
BOOST_AUTO_TEST_CASE(bodies_and_products_that_gain) {
    BOOST_TEST(cpu::follows_well<costly_body>() == (cpu::registers >= 32));
    BOOST_TEST(!cpu::follows_well<cheap_body>());
    BOOST_TEST(!cpu::follows_well<summing_body>());
    BOOST_TEST(!cpu::follows_well<store_body>());
    const auto suits = [](std::int64_t rows, std::int64_t depth, std::int64_t columns) {
        return cpu::suits_pipelining({nullptr, depth, 1, nullptr, 0, cpu::right::panels, rows, columns, depth,
                                      false, 0, 0});
    };
    BOOST_TEST(suits(32, 256, 256));
    BOOST_TEST(!suits(cpu::small_tile_rows - 1, 256, 256));
    BOOST_TEST(!suits(32, 4 * cpu::small_tile_rows - 1, 256));
    BOOST_TEST(!suits(32, 256, panel_width + 1));
    BOOST_TEST(!suits(32, cpu::streamed_floats, 256));
}
