// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE kernel_product_sum
#include <boost/test/unit_test.hpp>

#include "products.hpp"
#include <sinter/kernel/cpu/gemm/dense/product_sum.hpp>

/// Sums of products against sums in double.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::runtime;
using namespace sinter::test;

namespace {

struct store_sum {
    static constexpr int stores = 1;
    static void vector(cpu::vf acc, std::int64_t off, std::int64_t row, int col, const call& c) {
        vector(acc, cpu::lanes, off, row, col, c);
    }
    static void vector(cpu::vf acc, int n, std::int64_t off, std::int64_t row, int col, const call& c) {
        float* const y = c.p[2 * c.e[2]];
        BOOST_REQUIRE_EQUAL(off, row * c.e[1] + col);
        cpu::store(y + off, cpu::load(y + off, n) + acc, n);   // twice is seen
    }
    static void prefetch(int, int, std::int64_t, std::int64_t, const call&) {}
};

struct operands {
    std::vector<floats> plain, packed;
    operands(int pairs, std::int64_t m, std::int64_t K, std::int64_t N) {
        for (int k = 0; k < pairs; ++k) {
            plain.push_back(random_floats(static_cast<std::size_t>(m * K), static_cast<unsigned>(2 * k + 1)));
            plain.push_back(random_floats(static_cast<std::size_t>(K * N), static_cast<unsigned>(2 * k + 2)));
            packed.push_back(plain[plain.size() - 2]);
            packed.emplace_back(static_cast<std::size_t>(panel_floats(K, N, cpu::lanes)), 99.f);
            pack_panels(plain.back().data(), packed.back().data(), K, N, cpu::panel_width, cpu::lanes);
        }
    }
};

floats sum(operands& o, int m, std::int64_t K, std::int64_t N, int parts, int threads) {
    floats y(static_cast<std::size_t>(m * N));
    std::vector<float*> p;
    for (floats& x : o.packed) p.push_back(x.data());
    std::int64_t e[extent::count] = {K, N, static_cast<std::int64_t>(p.size() / 2)};
    p.push_back(y.data());
    call c;
    c.p = p.data();
    c.e = e;
    c.m = m;
    c.parts = parts;
    for (int t = 0; t < threads; ++t) {
        c.first = static_cast<int>(share(parts, t, threads));
        c.end = static_cast<int>(share(parts, t + 1, threads));
        for (c.part = c.first; c.part < c.end; ++c.part) cpu::product_sum<store_sum>::run(c);
    }
    return y;
}

void check(int pairs, int m, std::int64_t K, std::int64_t N) {
    operands o(pairs, m, K, N);
    const floats y = sum(o, m, K, N, 1, 1);
    for (int i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < N; ++j) {
            double want = 0;
            for (std::size_t k = 0; k < o.plain.size(); k += 2)
                want += dot(K, [&](auto t) { return o.plain[k][static_cast<std::size_t>(i * K + t)]; },
                            [&](auto t) { return o.plain[k + 1][static_cast<std::size_t>(t * N + j)]; });
            if (std::abs(y[static_cast<std::size_t>(i * N + j)] - want) > tolerance(pairs * K))
                BOOST_FAIL(pairs << " of " << m << "x" << K << "x" << N << " at " << i << "," << j);
        }
    for (int threads : {1, 2, 3, 5}) BOOST_TEST((sum(o, m, K, N, 8, threads) == y));
    // a row does not depend on the others
    operands one = o;
    for (std::size_t k = 0; k < one.packed.size(); k += 2)
        one.packed[k].erase(one.packed[k].begin(), one.packed[k].end() - K);
    const floats last = sum(one, 1, K, N, 2, 1);
    BOOST_TEST(std::equal(last.begin(), last.end(), y.end() - N));
}

} // namespace

BOOST_AUTO_TEST_CASE(all_rests_of_rows_and_columns) {
    for (int m : {1, 3, 8, 9, 14, 17, 32, 41})
        for (std::int64_t N : {1, 7, cpu::lanes, cpu::panel_width, cpu::panel_width + 1, 3 * cpu::panel_width,
                               3 * cpu::panel_width + cpu::lanes})
            for (int pairs : {2, 3, 4}) check(pairs, m, 19, N);
}
BOOST_AUTO_TEST_CASE(many_rows) { check(3, (cpu::carried_tiles + 2) * cpu::tile_rows + 3, 9, 2 * cpu::panel_width); }
BOOST_AUTO_TEST_CASE(deeper_than_a_piece) {
    const std::int64_t piece = cpu::streamed_floats / cpu::panel_width;
    check(2, 11, piece, 2 * cpu::panel_width);
    check(3, 9, 2 * piece + 1, cpu::panel_width + 5);
}
