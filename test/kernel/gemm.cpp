// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512 amx
#define BOOST_TEST_MODULE kernel_gemm
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "modelled_unit.hpp"
#include "products.hpp"
#include <sinter/kernel/cpu/gemm/bf16/bfloat16_gemm.hpp>
#include <sinter/kernel/cpu/gemm/dense/gemm.hpp>
#include <sinter/kernel/cpu/gemm/weight_gradient/gemm_tn.hpp>
#include <sinter/kernel/cpu/gemm/matmul.hpp>
#include <sinter/kernel/scalar_arithmetic.hpp>

using namespace sinter;
using namespace sinter::base;
using namespace sinter::runtime;
using namespace sinter::test;
using cpu::lanes;
using cpu::panel_width;

namespace {

const std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 24, 31, 33, 49, 64, 65, 100};

/// Its memory is prefetched.
struct prefetching_body : store_body {
    static void prefetch(int rows, int columns, std::int64_t off, std::int64_t, const call& c) {
        BOOST_REQUIRE(rows > 0 && columns > 0 && off >= 0 && off < std::int64_t{c.m} * c.e[1]);
    }
};

/// The same, handed tiles in registers.
struct prefetching_tile_body : tile_body {
    static void prefetch(int rows, int columns, std::int64_t off, std::int64_t step, const call& c) {
        prefetching_body::prefetch(rows, columns, off, step, c);
    }
};

/// Every element of a row-major result once, and close to `want(i, j)`, a sum of K products.
template <class Want>
void check_rows(const char* what, const outcome& r, std::int64_t m, std::int64_t K, std::int64_t N, Want want) {
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < N; ++j)
            if (const auto at = static_cast<std::size_t>(i * N + j);
                std::abs(r.value[at] - want(i, j)) > tolerance(K) || r.row[at] != static_cast<float>(i) ||
                r.col[at] != static_cast<float>(j) || r.visits[at] != 1)
                BOOST_FAIL(what << " " << m << "x" << K << "x" << N << " at " << i << "," << j << ": " << r.value[at]
                                << " wanted " << want(i, j) << ", visits " << r.visits[at]);
}

/// `apart`: how much further apart rows of A are than they are long.
void check_gemm(std::int64_t m, std::int64_t K, std::int64_t N, std::int64_t apart = 3) {
    const std::int64_t step = K + apart;
    const floats a = random_floats(static_cast<std::size_t>(m * step), 1);
    const floats b = random_floats(static_cast<std::size_t>(K * N), 2);
    floats packed(static_cast<std::size_t>(panel_floats(K, N, lanes)), 99.f);
    pack_panels(b.data(), packed.data(), K, N, panel_width, lanes);
    const auto with = [&](auto body, int parts, bool by_rows = false) {
        return run<cpu::gemm<decltype(body)>>(a, packed, static_cast<std::size_t>(m * N), {K, N, step, 0, 0, by_rows},
                                              static_cast<int>(m), parts);
    };
    const auto go = [&](int parts, bool by_rows = false) { return with(store_body{}, parts, by_rows); };
    const outcome r = go(1);
    check_rows("gemm", r, m, K, N, [&](auto i, auto j) {
        return dot(K, [&](auto t) { return a[static_cast<std::size_t>(i * step + t)]; },
                   [&](auto t) { return b[static_cast<std::size_t>(t * N + j)]; });
    });
    for (int parts = 2; parts <= 5; ++parts) BOOST_TEST((go(parts) == r && go(parts, true) == r));
    for (int parts = 1; parts <= 3; ++parts)
        BOOST_TEST((with(tile_body{}, parts) == r && with(tile_body{}, parts, true) == r));
    for (int parts = 1; parts <= 3; ++parts) BOOST_TEST((with(prefetching_body{}, parts) == r));
    for (int parts = 1; parts <= 3; ++parts) BOOST_TEST((with(prefetching_tile_body{}, parts) == r));
}

/// The same product by weights of which the transpose is packed.
void check_transposed(std::int64_t m, std::int64_t K, std::int64_t N) {
    const floats a = random_floats(static_cast<std::size_t>(m * K), 1),
        b = random_floats(static_cast<std::size_t>(K * N), 2);
    floats packed(static_cast<std::size_t>(panel_floats(N, K, lanes)), 99.f);
    pack_panels(b.data(), packed.data(), N, K, panel_width, lanes);
    const auto go = [&](int parts) {
        return run<cpu::gemm<store_body>>(a, packed, static_cast<std::size_t>(m * N), {K, N, K, 1},
                                          static_cast<int>(m), parts);
    };
    const outcome r = go(1);
    check_rows("turned", r, m, K, N, [&](auto i, auto j) {
        return dot(K, [&](auto t) { return a[static_cast<std::size_t>(i * K + t)]; },
                   [&](auto t) { return b[static_cast<std::size_t>(j * K + t)]; });
    });
    for (int parts = 2; parts <= 5; ++parts) BOOST_TEST((go(parts) == r));
}

void check_gemm_tn(std::int64_t m, std::int64_t K, std::int64_t N) {
    const floats a = random_floats(static_cast<std::size_t>(m * K), 3);
    const floats d = random_floats(static_cast<std::size_t>(m * N), 4);
    const auto with = [&](auto body, int parts, int threads) {
        return run<cpu::gemm_tn<decltype(body)>>(a, d, static_cast<std::size_t>(panel_floats(K, N, lanes)), {K, N},
                                                 static_cast<int>(m), parts, threads);
    };
    const auto go = [&](int parts, int threads = 0) { return with(store_body{}, parts, threads); };
    const outcome r = go(1);
    for (std::int64_t k = 0; k < K; ++k)
        for (std::int64_t j = 0; j < round_up(N, lanes); ++j) {
            const auto at = static_cast<std::size_t>(panel_offset(K, N, k, j, panel_width, lanes));
            const double want = j < N ? dot(m, [&](auto t) { return a[static_cast<std::size_t>(t * K + k)]; },
                                            [&](auto t) { return d[static_cast<std::size_t>(t * N + j)]; })
                                      : 0;
            if (std::abs(r.value[at] - want) > (j < N ? tolerance(m) : 0) || r.row[at] != static_cast<float>(k) ||
                r.col[at] != static_cast<float>(j) || r.visits[at] != 1)
                BOOST_FAIL("gemm_tn " << m << "x" << K << "x" << N << " at " << k << "," << j << ": " << r.value[at]
                                      << " wanted " << want << ", visits " << r.visits[at]);
        }
    for (int parts = 2; parts <= 5; ++parts) BOOST_TEST((go(parts) == r));
    for (int threads = 1; threads <= 5; ++threads) BOOST_TEST((go(8, threads) == r));
    for (int threads = 0; threads <= 3; ++threads) BOOST_TEST((with(tile_body{}, threads ? 8 : 1, threads) == r));
    for (int threads = 0; threads <= 3; ++threads) BOOST_TEST((with(long_body{}, threads ? 8 : 1, threads) == r));
}

float rounded(float x) { return arithmetic<float>::round_to_bfloat16(x); }

/// Pairs of rounded numbers, made by the kernels themselves. AVX512_BF16 and matrix units may round
/// sums otherwise, within the tolerance.
template <class Unit>
void check_pairs(std::int64_t m, std::int64_t K, std::int64_t N) {
    const std::int64_t step = K + 3;
    const auto drawn = [](std::int64_t n, unsigned seed) { return random_floats(static_cast<std::size_t>(n), seed); };
    const floats a = drawn(m * step, 1), b = drawn(K * N, 2), d = drawn(m * N, 4), x = drawn(m * K, 3);
    floats packed(static_cast<std::size_t>(panel_floats(K, N, lanes)), 99.f);
    floats pairs(static_cast<std::size_t>(panel_floats((K + 1) / 2, N, lanes)), 99.f);
    pack_panels(b.data(), packed.data(), K, N, panel_width, lanes);
    const std::int64_t e[] = {K, N};
    float* p[] = {packed.data(), pairs.data()};
    call c;
    c.p = p, c.e = e, c.parts = 3;
    for (c.part = 0; c.part < 3; ++c.part) cpu::bfloat16_weights::run(c);
    const auto forward = [&](int parts) {
        return run<cpu::bfloat16_gemm<store_body, Unit>>(a, pairs, static_cast<std::size_t>(m * N), {K, N, step},
                                                         static_cast<int>(m),
                                                   parts);
    };
    const auto backward = [&](int parts) {
        return run<cpu::bfloat16_gemm_tn<store_body, Unit>>(x, d,
                                                            static_cast<std::size_t>(panel_floats(K, N, lanes)), {K, N},
                                                      static_cast<int>(m), parts);
    };
    const outcome y = forward(1), g = backward(1);
    const auto at = [](const floats& v, std::int64_t i) { return rounded(v[static_cast<std::size_t>(i)]); };
    const auto check = [&](const outcome& r, std::int64_t place, double want, std::int64_t depth, std::int64_t row,
                           std::int64_t col) {
        const auto i = static_cast<std::size_t>(place);
        const bool there = r.row[i] == static_cast<float>(row) && r.col[i] == static_cast<float>(col) &&
            r.visits[i] == 1;
        if (!there || std::abs(r.value[i] - want) > tolerance(depth))
            BOOST_FAIL("pairs of " << m << "x" << K << "x" << N << " at " << row << "," << col << ": " << r.value[i]
                                   << " wanted " << want);
    };
    for (std::int64_t j = 0; j < N; ++j) {
        for (std::int64_t i = 0; i < m; ++i)
            check(y, i * N + j,
                  dot(K, [&](auto t) { return at(a, i * step + t); }, [&](auto t) { return at(b, t * N + j); }), K, i,
                  j);
        for (std::int64_t k = 0; k < K; ++k)
            check(g, panel_offset(K, N, k, j, panel_width, lanes),
                  dot(m, [&](auto t) { return at(x, t * K + k); }, [&](auto t) { return at(d, t * N + j); }), m, k, j);
    }
    for (std::int64_t k = 0; k < K; ++k)
        for (std::int64_t j = N; j < round_up(N, lanes); ++j)
            check(g, panel_offset(K, N, k, j, panel_width, lanes), 0, 0, k, j);
    for (int parts = 2; parts <= 5; ++parts) BOOST_TEST((forward(parts) == y && backward(parts) == g));
}

template <class Kernel>
struct of_finite_weights {
    static void run(call c) {
        c.finite_weights = true;
        Kernel::run(c);
    }
};
/// With its extents as constants a single row has the same bits, and without the terms of zeros.
template <int K, int N>
void check_gemm_row() {
    using row = cpu::gemm_row<store_body, K, N>;
    const floats b = random_floats(K * N, 2);
    floats packed(static_cast<std::size_t>(panel_floats(K, N, lanes)), 99.f);
    pack_panels(b.data(), packed.data(), K, N, panel_width, lanes);
    for (unsigned zeros : {0u, 2u, 3u, 64u}) {   // of four factors so many, or all
        floats a = random_floats(K, 1);
        for (unsigned i = 0; i < K; ++i)
            if ((i * 2654435761u >> 7 & 3) < zeros) a[i] = i % 2 ? 0.f : -0.f;
        const outcome want = run<cpu::gemm<store_body>>(a, packed, N, {K, N, K}, 1, 1);
        if (!(want == run<row>(a, packed, N, {K, N, K}, 1, 1) &&
              want == run<of_finite_weights<row>>(a, packed, N, {K, N, K}, 1, 1)))
            BOOST_FAIL("a row of " << K << " by " << N << ", zeros " << zeros);
    }
}

/// Random numbers of which every third is left, and every row that is a multiple of seven is zero as a whole.
floats sparse_floats(std::int64_t rows, std::int64_t columns, unsigned seed) {
    floats v = random_floats(static_cast<std::size_t>(rows * columns), seed);
    for (std::int64_t i = 0; i < rows * columns; ++i)
        if (i * 2654435761u >> 7 & 3 || i / columns % 7 == 0) v[static_cast<std::size_t>(i)] = 0;
    return v;
}
bool same(const floats& a, const floats& b) {   // bit by bit, but one NaN is as good as another
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::memcmp(&a[i], &b[i], 4) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
    return a.size() == b.size();
}
/// Runs a product by tiles, by the function for zeros (whose condition must hold), and as three
/// threads with two or three parts each.
void check_sparse(cpu::product q, bool (*holds)(const cpu::product&), cpu::tiles_function skipping, floats a, floats b,
                  std::int64_t size) {
    static constexpr cpu::epilogue f = cpu::epilogue_of<store_body, true>();
    const std::size_t length = a.size();   // at a line's beginning, where some are read in place
    a.resize(length + cpu::floats_a_line);
    float* const line = a.data() + (64 - reinterpret_cast<std::uintptr_t>(a.data()) % 64) % 64 / 4;
    std::memmove(line, a.data(), 4 * length);
    q.a = line;
    q.b = b.data();
    BOOST_REQUIRE(holds(q));
    const auto go = [&](auto work) {
        const auto n = static_cast<std::size_t>(size);
        outcome r{floats(n, -7.f), floats(n), floats(n), floats(n)};
        float* p[] = {line, b.data(), r.value.data(), r.row.data(), r.col.data(), r.visits.data()};
        call c;
        c.p = p;
        work(c);
        return r;
    };
    const std::int64_t tiles = cpu::tiles_of(q);
    const outcome dense = go([&](const call& c) { cpu::run_tiles(q, f, c, 0, tiles); });
    const outcome whole = go([&](const call& c) { skipping(q, f, c, 0, tiles); });
    const outcome parts = go([&](call c) {
        c.parts = 8;
        for (int thread = 0; thread < 3; ++thread) {
            c.first = static_cast<int>(share(8, thread, 3));
            c.end = static_cast<int>(share(8, thread + 1, 3));
            for (c.part = c.first; c.part < c.end; ++c.part) cpu::run_share(q, f, c, skipping);
        }
    });
    for (const outcome* r : {&whole, &parts})
        if (!same(r->value, dense.value) || r->row != dense.row || r->col != dense.col || r->visits != dense.visits)
            BOOST_FAIL("not what the tiles make of " << q.rows << "x" << q.depth << "x" << q.columns
                                                     << (r == &whole ? "" : ", in parts"));
}
const float strange[] = {0.5f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};

} // namespace

BOOST_AUTO_TEST_CASE(zeros_on_the_left_are_skipped_and_nothing_else_changes) {
    for (std::int64_t m : {32, 64, 71, 150})
        for (std::int64_t K : {64, 77, 193})
            for (std::int64_t N :
                 {2 * panel_width, 3 * panel_width, 5 * panel_width, 7 * panel_width, 9 * panel_width - 3})
                for (float odd : strange) {   // a weight whose input is zero in the first example
                    floats b = random_floats(static_cast<std::size_t>(K * N), 2);
                    floats packed(static_cast<std::size_t>(panel_floats(K, N, lanes)));
                    b[static_cast<std::size_t>(3 * N + 1)] = odd;
                    pack_panels(b.data(), packed.data(), K, N, panel_width, lanes);
                    check_sparse({nullptr, K, 1, nullptr, 0, cpu::right::panels, m, N, K, false, 0, 0},
                                 cpu::is_sparse_left, cpu::run_sparse_left, sparse_floats(m, K, 1), packed, m * N);
                }
    for (int period : {8, 16, 32, 64, 128}) {   // a zero row every so often is not taken for zeros everywhere
        floats texts = random_floats(512 * 64, 1);
        for (int i = 0; i < 512; i += period) std::fill_n(texts.begin() + i * 64, 64, 0.f);
        BOOST_TEST(cpu::non_zero_share(texts.data(), 512, 64, 64) > cpu::sparse_share);
    }
    const floats full = random_floats(64 * 128, 1);
    const cpu::product dense{full.data(), 128, 1, full.data(), 0, cpu::right::panels, 64, 5 * panel_width, 128,
                             false, 0, 0};
    BOOST_TEST(!cpu::is_sparse_left(dense));
}

BOOST_AUTO_TEST_CASE(few_inputs_go_in_tiles_of_four_and_nothing_else_changes) {
    for (std::int64_t K = cpu::few_rows; K < cpu::small_tile_rows; ++K)
        for (std::int64_t m : {1, 5, 32, 300})
            for (std::int64_t N : {2 * lanes, 3 * lanes, 6 * lanes, 7 * lanes - 3})
                check_sparse({nullptr, 1, K, nullptr, N, cpu::right::rows, K, N, m, true, 0, 0}, cpu::has_few_rows,
                             cpu::run_few_rows,
                             random_floats(static_cast<std::size_t>(m * K), 1),
                             random_floats(static_cast<std::size_t>(m * N), 2), panel_floats(K, N, lanes));
}

BOOST_AUTO_TEST_CASE(few_columns_go_by_rows_and_nothing_else_changes) {
    for (std::int64_t N = 1; N <= cpu::narrow_product; ++N)
        for (std::int64_t m : {lanes, lanes + 1, 2 * lanes - 1, 3 * lanes, 71, 150})
            for (std::int64_t K : {lanes, lanes + 1, 3 * lanes - 1, 8 * lanes}) {
                floats packed = random_floats(static_cast<std::size_t>(K * lanes), 2);
                for (std::size_t i = 0; i < packed.size(); ++i)
                    if (static_cast<std::int64_t>(i % lanes) >= N) packed[i] = 0;
                check_sparse({nullptr, K, 1, nullptr, 0, cpu::right::panels, m, N, K, false, 0, 0},
                             cpu::is_narrow_product,
                             cpu::run_narrow_product<>, random_floats(static_cast<std::size_t>(m * K), 1),
                             packed, m * N);
            }
}

template <class Unit>
void check_all_pairs() {
    for (std::int64_t m : {1, 2, 3, 4, 5, 7, 13, 15, 33, 64})
        for (std::int64_t K : {1, 2, 3, 8, 15, 16, 33, 65})
            for (std::int64_t N : {1, 3, 8, 15, 16, 17, 31, 32, 33, 70}) check_pairs<Unit>(m, K, N);
    check_pairs<Unit>(150, 700, 40);   // more tiles than stay in a cache
}
BOOST_AUTO_TEST_CASE(pairs_of_bfloat16) { check_all_pairs<cpu::no_matrix_unit>(); }
BOOST_AUTO_TEST_CASE(pairs_of_bfloat16_by_a_matrix_unit) {
    if (lanes != cpu::unit_extent) BOOST_TEST_MESSAGE("skipped: only targets of 512-bit vectors have matrix units");
    check_all_pairs<modelled_unit>();
    if constexpr (cpu::matrix_unit::exists) {
        if (!cpu::matrix_unit::ready()) BOOST_TEST_MESSAGE("skipped: the system does not grant the processor's own");
        check_all_pairs<cpu::matrix_unit>();
    } else BOOST_TEST_MESSAGE("skipped: compiled for a processor without one");
}

/// One step of the sums: x times y and u times v, in every lane.
__attribute__((noinline)) float one_step(float sum, float x, float y, float u, float v) {
    const auto all = [](float a) { return cpu::splat(a); };
    const cpu::vf r = cpu::dot_pairs(all(sum), (cpu::vu)cpu::pairs_of(all(x), all(u)),
                                     (cpu::vu)cpu::pairs_of(all(y), all(v)));
    for (int i = 1; i < lanes; ++i)
        if (std::memcmp(&reinterpret_cast<const float(&)[lanes]>(r)[i],
                        &reinterpret_cast<const float(&)[lanes]>(r)[0], 4))
            BOOST_FAIL("lane " << i << " differs");
    return r[0];
}
BOOST_AUTO_TEST_CASE(one_step_of_pairs) {
    const float inf = std::numeric_limits<float>::infinity();
    BOOST_TEST(one_step(1, 3, 5, 7, -11) == 1 + 15 - 77);   // exact: nothing to round
    BOOST_TEST(one_step(-0x1p20f, 0x1p10f, 0x1p10f, 1, 1) == 1);
    BOOST_TEST(one_step(0, 1.00390625f, 1, 0, 0) == 1);     // halfway between two bfloat16: to the even one
    BOOST_TEST(one_step(0, 1.01171875f, 1, 0, 0) == 1.015625f);
    BOOST_TEST(one_step(1, inf, 2, 1, 1) == inf);
    BOOST_TEST(std::isnan(one_step(1, inf, 0, 1, 1)));
    BOOST_TEST(std::isnan(one_step(1, 1, 1, std::numeric_limits<float>::quiet_NaN(), 1)));
    // The instruction takes denormals for zeros; elsewhere modes decide, which nobody has set here.
    BOOST_TEST(one_step(0, 0x1p-130f, 0x1p100f, 0, 0) == (cpu::multiplies_pairs ? 0 : 0x1p-30f));
}
#if defined(__SSE2__)
BOOST_AUTO_TEST_CASE(modes_do_not_change_a_step_of_pairs_by_instruction) {
    if (!cpu::multiplies_pairs) return;
    const unsigned modes = _mm_getcsr();
    const floats x = random_floats(64, 7);
    const auto go = [&](std::size_t i) { return one_step(x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4]); };
    for (std::size_t i = 0; i + 4 < x.size(); ++i) {
        const float want = go(i);
        for (unsigned mode : {_MM_ROUND_DOWN, _MM_ROUND_UP, _MM_ROUND_TOWARD_ZERO}) {
            _mm_setcsr((modes & ~static_cast<unsigned>(_MM_ROUND_MASK)) | mode | 0x8040);   // and denormals for zeros
            const float got = go(i);
            _mm_setcsr(modes);
            BOOST_TEST(got == want);
        }
    }
}
#endif

// Each panel is prefetched ahead; also where a panel takes several pieces.
BOOST_AUTO_TEST_CASE(weights_that_no_cache_holds) {
    for (std::int64_t m : {5, 8, 14, 16, 37, 130}) {
        check_gemm(m, 600, 450);
        check_transposed(m, 450, 600);
    }
    check_gemm(8, 4200, 80);
    check_gemm(16, 4200, 80);
    check_transposed(16, 4200, 80);
}
BOOST_AUTO_TEST_CASE(zeros_of_a_gradient_are_skipped_and_nothing_else_changes) {
    for (std::int64_t m : {32, 64, 71, 300})
        for (std::int64_t K : {64, 240, 2 * cpu::input_block, 5 * cpu::input_block / 2 + 3})
            for (std::int64_t N : {176, 270})
                for (float odd : strange) {   // an input of an example whose gradients are zero
                    floats a = random_floats(static_cast<std::size_t>(m * K), 3);
                    a[static_cast<std::size_t>(7 * K + 2)] = odd;
                    check_sparse({nullptr, 1, K, nullptr, N, cpu::right::rows, K, N, m, true, 0, 0},
                                 [](const cpu::product& q) { return cpu::gradient_share(q) <= cpu::sparse_share; },
                                 cpu::run_sparse_gradient, a, sparse_floats(m, N, 4), panel_floats(K, N, lanes));
                }
    const floats full = random_floats(64 * 128, 1);
    const cpu::product dense{full.data(), 1, 128, full.data(), 128, cpu::right::rows, 128, 128, 64, true, 0, 0};
    BOOST_TEST(cpu::gradient_share(dense) == 1);
    BOOST_TEST(cpu::input_share(dense) == 1);
}

BOOST_AUTO_TEST_CASE(zeros_of_the_inputs_are_skipped_in_the_gradient_and_nothing_else_changes) {
    const auto check = [](std::int64_t m, std::int64_t K, std::int64_t N) {
        for (float odd : strange) {   // a gradient of an example whose inputs are zero
            floats d = random_floats(static_cast<std::size_t>(m * N), 3);
            d[static_cast<std::size_t>(7 * N + 2)] = odd;
            // zeros side by side, so that inputs are paired
            floats blots = random_floats(static_cast<std::size_t>(m * K), 4);
            for (std::int64_t i = 0; i < m * K; ++i)
                if ((i % K / 5 + i / K) % 3 || i / K % 7 == 0) blots[static_cast<std::size_t>(i)] = 0;
            for (const floats& x : {sparse_floats(m, K, 4), blots})
                check_sparse({nullptr, 1, K, nullptr, N, cpu::right::rows, K, N, m, true, 0, 0},
                             [](const cpu::product& q) { return cpu::input_share(q) <= cpu::sparse_share; },
                             cpu::run_sparse_inputs, x, d, panel_floats(K, N, lanes));
        }
    };
    for (std::int64_t m : {32, 71, 300})
        for (std::int64_t K : {80, 112})
            for (std::int64_t N : {5 * panel_width, 7 * panel_width, 9 * panel_width + lanes - 2}) check(m, K, N);
    check(300, 784, 8 * panel_width);   // whose masks are all made first, with few registers
    check(300, 848, 8 * panel_width);   // and are too many for that
}

/// Each vector of a packed result: how often its memory was prefetched, and then finished.
struct prefetched_and_finished {
    static inline std::vector<int> prefetched, finished;
    static inline int too_early = 0;   ///< finished before they were prefetched
    template <class F>
    static void each(const cpu::finished& t, F f) {
        for (std::int64_t i = 0; i < t.rows; ++i)
            for (int j = 0; j < t.columns; j += lanes)
                f(static_cast<std::size_t>((t.off + i * t.off_step + j) / lanes));
    }
    static void prefetch(const cpu::finished& t, const call&) {
        each(t, [](std::size_t i) { ++prefetched.at(i); });
    }
    static void finish(const cpu::finished& t, const call&) {
        each(t, [](std::size_t i) { too_early += prefetched.at(i) == 0, ++finished.at(i); });
    }
};
BOOST_AUTO_TEST_CASE(weights_far_away_are_prefetched_while_their_gradients_are_summed) {
    constexpr std::int64_t m = 71, K = 784, N = 8 * panel_width;
    const floats a = sparse_floats(m, K, 1), d = sparse_floats(m, N, 2);
    const cpu::product q{a.data(), 1, K, d.data(), N, cpu::right::rows, K, N, m, true, 0, 0};
    cpu::epilogue f{prefetched_and_finished::finish};
    f.prefetch = prefetched_and_finished::prefetch;
    f.columns = prefetched_and_finished::finish;
    for (const auto gradient : {&cpu::run_sparse_inputs<>, &cpu::run_sparse_gradient<>})
        for (const int arrays : {1, static_cast<int>(2 * cpu::second_level_floats / (K * N) + 1)}) {
            f.arrays = arrays;
            using t = prefetched_and_finished;
            t::prefetched.assign(K * N / lanes, 0);
            t::finished = t::prefetched;
            t::too_early = 0;
            gradient(q, f, call{}, 0, cpu::tiles_of(q));
            BOOST_TEST(t::finished == std::vector<int>(K * N / lanes, 1), boost::test_tools::per_element());
            BOOST_TEST(t::prefetched == std::vector<int>(K * N / lanes, arrays > 1), boost::test_tools::per_element());
            if (arrays > 1) BOOST_TEST(t::too_early == 0);
        }
}

/// The same, which keeps the sums, too, and may list its lines to be prefetched one by one.
struct sparse_and_finished : prefetched_and_finished {
    static inline floats result;
    static void list(const cpu::finished& t, const call&, cpu::tile_lines& lines) {
        prefetch(t, call{});
        for (std::int64_t i = 0; i < t.rows; ++i) lines.line[lines.count++] = result.data() + t.off + i * t.off_step;
    }
    static void finish(const cpu::finished& t, const call&) {
        prefetched_and_finished::finish(t, call{});
        for (std::int64_t i = 0; i < t.rows; ++i)
            for (int j = 0; j < t.columns; ++j)
                result.at(static_cast<std::size_t>(t.off + i * t.off_step + j)) = t.sums[i * t.width + j];
    }
};
BOOST_AUTO_TEST_CASE(weights_in_memory_are_prefetched_line_by_line_beside_dense_sums) {
    using t = sparse_and_finished;
    const auto check = [](std::int64_t m, std::int64_t K, std::int64_t N) {
        const floats a = random_floats(static_cast<std::size_t>(m * K), 1),
            d = random_floats(static_cast<std::size_t>(m * N), 2);
        const cpu::product q{a.data(), 1, K, d.data(), N, cpu::right::rows, K, N, m, true, 0, 0};
        const auto all = static_cast<std::size_t>(panel_floats(K, N, lanes));
        const auto run = [&](bool prefetches, bool lists) {
            cpu::epilogue f{t::finish};
            if (prefetches) f.prefetch = t::prefetch;
            if (lists) f.list = t::list;
            f.arrays = static_cast<int>(2 * cpu::second_level_floats / (K * N) + 1);
            t::prefetched.assign(all / lanes, 0);
            t::finished = t::prefetched;
            t::too_early = 0;
            t::result.assign(all, 99.f);
            cpu::run_transposed_product(q, f, call{}, 0, 1, 1);
            BOOST_TEST(t::finished == std::vector<int>(all / lanes, 1), boost::test_tools::per_element());
            if (prefetches) BOOST_TEST(t::too_early == 0);   // lists longer than the last piece's sums are made in vain
            if (prefetches && !lists) BOOST_TEST(t::prefetched == t::finished, boost::test_tools::per_element());
            return t::result;
        };
        const floats want = run(false, false);
        BOOST_TEST((run(true, false) == want));
        BOOST_TEST((run(true, true) == want));
    };
    check(130, 150, 4 * panel_width);    // all panels stay in the second-level cache
    check(200, 150, 9 * panel_width);
    check(700, 110, 5 * panel_width);    // sums go on from piece to piece
    check(257, 90, 40 * panel_width);    // panels pass by groups of tiles
}

BOOST_AUTO_TEST_CASE(panels_round_trip) {
    for (std::int64_t K : {1, 3, 8})
        for (std::int64_t N : sizes) {
            const floats b = random_floats(static_cast<std::size_t>(K * N), 5);
            floats packed(static_cast<std::size_t>(panel_floats(K, N, lanes)), 99.f), back(b.size());
            pack_panels(b.data(), packed.data(), K, N, panel_width, lanes);
            for (std::int64_t k = 0; k < K; ++k)
                for (std::int64_t j = 0; j < round_up(N, lanes); ++j)
                    BOOST_TEST(packed[static_cast<std::size_t>(panel_offset(K, N, k, j, panel_width, lanes))] ==
                               (j < N ? b[static_cast<std::size_t>(k * N + j)] : 0.f));
            unpack_panels(packed.data(), back.data(), K, N, panel_width, lanes);
            BOOST_TEST(back == b);
        }
    static_assert(panel_floats(3, 10, 8) == 48);
    static_assert(panel_offset(3, 20, 2, 17, 16, 8) == 48 + 2 * 8 + 1);   // the second panel is 8 wide
}

BOOST_AUTO_TEST_CASE(row_covers_visit_every_row_once) {
    for (std::int64_t n = 1; n < 300; ++n) {
        const cpu::row_cover cover(n);
        std::int64_t next = 0;
        for (std::int64_t t = 0; t < cover.count; ++t) {
            BOOST_TEST(cover.begin(t) == next);
            next = cover.begin(t) + cover.height(t);
        }
        BOOST_TEST(next >= n);
        BOOST_TEST(next - n < cpu::small_tile_rows);
    }
}

BOOST_AUTO_TEST_CASE(gemm_of_many_sizes) {
    for (std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 11, 13, 16, 23, 64})
        for (std::int64_t K : {1, 2, 9, 33})
            for (std::int64_t N : sizes) check_gemm(m, K, N);
}

BOOST_AUTO_TEST_CASE(by_the_transpose_of_packed_weights) {
    for (std::int64_t m : {1, 3, 4, 6, 16})
        for (std::int64_t K : {1, 7, 16, 33, 100})
            for (std::int64_t N : sizes) check_transposed(m, K, N);
    check_transposed(16, cpu::gathered_floats / panel_width + 21, 40);   // in pieces
    check_transposed(7, 2 * cpu::gathered_floats / panel_width, 19);
}

/// Lanes along the rows, of a batch that nearly fills vectors of them; one row is a tile's.
BOOST_AUTO_TEST_CASE(few_rows_fill_lanes_and_nothing_else_changes) {
    const std::int64_t N = cpu::waiting_floats / panel_width + 3 * panel_width;   // more columns than wait in the cache
    for (std::int64_t m : {lanes, panel_width - 1, panel_width, 3 * lanes, 2 * panel_width}) {
        for (std::int64_t K : {cpu::non_temporal_floats / N + 1, std::int64_t{4 * panel_width + lanes},
                               std::int64_t{4 * panel_width + lanes + 1}, std::int64_t{9 * panel_width + 3}})
            check_transposed(m, K, N);
        check_transposed(m, cpu::non_temporal_floats / (4 * panel_width) + 1, 4 * panel_width);
        const std::int64_t K = 5 * panel_width + 7;
        const floats a = random_floats(static_cast<std::size_t>(m * K), 5);
        floats packed(static_cast<std::size_t>(panel_floats(N, K, lanes)));
        pack_panels(random_floats(static_cast<std::size_t>(K * N), 6).data(), packed.data(), N, K, panel_width, lanes);
        const auto rows = [&](std::int64_t n) {
            return run<cpu::gemm<store_body>>(a, packed, static_cast<std::size_t>(n * N), {K, N, K, 1},
                                              static_cast<int>(n), 1).value;
        };
        BOOST_TEST(std::memcmp(rows(m).data(), rows(1).data(), static_cast<std::size_t>(N) * sizeof(float)) == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_row_of_known_extents) {
    // one group of panels, several, and the last one narrow or not full
    constexpr int most = cpu::gemm_row<store_body, 1, 1>::most;
    check_gemm_row<1, 1>();
    check_gemm_row<2, 3 * panel_width>();
    check_gemm_row<33, panel_width + 1>();
    check_gemm_row<64, most * panel_width - lanes - 1>();
    check_gemm_row<7, most * panel_width + lanes>();
    check_gemm_row<100, (2 * most + 3) * panel_width - 1>();
    check_gemm_row<9, (3 * most + 1) * panel_width>();
}

BOOST_AUTO_TEST_CASE(gemm_deeper_than_one_piece) {
    check_gemm(67, cpu::streamed_floats / panel_width + 5, 19);
    check_gemm(2 * cpu::blocked_floats / 250 + 5, 250, 3 * panel_width + 1);   // rows in blocks
    check_gemm(110, 2 * cpu::streamed_floats / panel_width, 17);
}

BOOST_AUTO_TEST_CASE(rows_pages_apart) {   // from a copy, all at once or some tiles at a time
    for (std::int64_t m : {13, 30, 200})
        for (std::int64_t N : {5, 2 * panel_width}) {
            check_gemm(m, cpu::a_page, N, 0);
            check_gemm(m, 2 * cpu::a_page - 37, N, 37);
            check_transposed(m, cpu::a_page, N);
        }
    check_gemm(90, 4 * cpu::a_page, panel_width + 1, 0);
}

BOOST_AUTO_TEST_CASE(gemm_tn_of_many_sizes) {
    for (std::int64_t m : {1, 2, 3, 5, 16, 33})
        for (std::int64_t K : {1, 2, 3, 4, 5, 6, 7, 10, 13, 29, 64, 217})
            for (std::int64_t N : sizes) check_gemm_tn(m, K, N);
}

BOOST_AUTO_TEST_CASE(gemm_tn_copying_its_operands) {
    using kernel = cpu::gemm_tn<store_body>;
    for (std::int64_t m : {kernel::deep - 1, kernel::deep, kernel::deep + 35})
        for (std::int64_t K : {1, 3, 4, 5, 7, 12, 29, 70})
            for (std::int64_t N : {kernel::wide - 1, kernel::wide, kernel::wide + 9}) check_gemm_tn(m, K, N);
    // more tiles than stay in the cache, and more panels than carry their sums from piece to piece of the depth
    const std::int64_t piece = cpu::copied_rows, block = cpu::copied_floats / (cpu::tile_rows * piece);
    const std::int64_t panels = cpu::continued_floats / (cpu::tile_rows * panel_width) / block;
    for (std::int64_t m : {piece + 3, cpu::most_copied_rows + 3})
        check_gemm_tn(m, (block + 1) * cpu::tile_rows + 1, (panels + 1) * panel_width + 3);
    check_gemm_tn(2 * piece, 2 * block * cpu::tile_rows, kernel::wide);
    // few examples, of weights that lie in memory
    check_gemm_tn(16, cpu::memory_floats / 240 + 3, 243);
}

/// Stores behind the sums of the right operand's rows.
struct body_behind_sums {
    static void vector(cpu::vf acc, std::int64_t off, std::int64_t, int, const call& c) {
        cpu::store(c.p[3] + off, acc);
    }
    static void vector(cpu::vf acc, int n, std::int64_t off, std::int64_t, int, const call& c) {
        cpu::store(c.p[3] + off, acc, n);
    }
};
BOOST_AUTO_TEST_CASE(gemm_tn_sums_its_right_operand_too) {
    using kernel = cpu::gemm_tn<body_behind_sums, -1, true>;
    for (std::int64_t m : {std::int64_t{9}, kernel::deep + 5, cpu::kept_depth, cpu::kept_depth + 3})
        for (std::int64_t K : {29, 70})
            for (std::int64_t N : {std::int64_t{20}, kernel::wide, kernel::wide + 9, 2 * kernel::wide}) {
                const floats a = random_floats(static_cast<std::size_t>(m * K), 3),
                    d = random_floats(static_cast<std::size_t>(m * N), 4);
                const auto size = static_cast<std::size_t>(panel_floats(K, N, lanes));
                const auto go = [&](int parts, int threads) {
                    return run<kernel>(a, d, size, {K, N}, static_cast<int>(m), parts, threads);
                };
                const outcome r = go(1, 0);   // value: the sums; row: the product
                for (std::int64_t j = 0; j < N; ++j) {
                    const double want = dot(m, [](auto) { return 1.; },
                                            [&](auto t) { return d[static_cast<std::size_t>(t * N + j)]; });
                    BOOST_TEST(std::abs(r.value[static_cast<std::size_t>(j)] - want) <= tolerance(m));
                    for (std::int64_t k = 0; k < K; ++k) {
                        const double y = dot(m, [&](auto t) { return a[static_cast<std::size_t>(t * K + k)]; },
                                             [&](auto t) { return d[static_cast<std::size_t>(t * N + j)]; });
                        const auto at = static_cast<std::size_t>(panel_offset(K, N, k, j, panel_width, lanes));
                        if (std::abs(r.row[at] - y) > tolerance(m))
                            BOOST_FAIL(m << "x" << K << "x" << N << " at " << k << "," << j);
                    }
                }
                for (int threads = 0; threads <= 3; ++threads) BOOST_TEST((go(8, threads) == r));
            }
}

BOOST_AUTO_TEST_CASE(a_left_operand_known_to_be_zero_is_not_read) {
    for (const auto& x :
         {std::array<std::int64_t, 3>{1, 5, 3}, {3, 40, 70}, {29, 7, 2 * panel_width + 1}, {64, 130, 90}}) {
        const std::int64_t m = x[0], K = x[1], N = x[2];
        const auto go = [&](float left, bool first_iteration, std::int64_t known, int parts) {
            return run<cpu::gemm<store_body>>(floats(static_cast<std::size_t>(m * K), left),
                                              floats(static_cast<std::size_t>(panel_floats(K, N, lanes)), 2.f),
                                              static_cast<std::size_t>(m * N), {K, N, K, 0, known}, static_cast<int>(m),
                                              parts, 0, first_iteration);
        };
        const outcome zeros = go(0.f, true, 0, 1);
        for (int parts = 1; parts <= 4; ++parts) BOOST_TEST((go(NAN, true, 1, parts) == zeros));
        BOOST_TEST((go(1.f, false, 1, 1) == go(1.f, false, 0, 1)));   // in later iterations it is
    }
}

BOOST_AUTO_TEST_CASE(gemm_tn_leaves_out_rows_known_to_be_zero) {
    using kernel = cpu::gemm_tn<store_body>;
    for (std::int64_t m : {std::int64_t{9}, kernel::deep + 5, 3 * kernel::deep})
        for (std::int64_t N : {std::int64_t{2}, std::int64_t{20}, kernel::wide + 3})
            for (std::int64_t zeros : {4, -4}) {
                constexpr std::int64_t K = 29;
                floats a = random_floats(static_cast<std::size_t>(m * K), 3);
                const floats d = random_floats(static_cast<std::size_t>(m * N), 4);
                const auto go = [&](float of, std::int64_t known, int parts) {
                    const std::int64_t first = zeros < 0 ? m + zeros : 0;
                    std::fill(a.begin() + first * K, a.begin() + (first + 4) * K, of);
                    return run<kernel>(a, d, static_cast<std::size_t>(panel_floats(K, N, lanes)), {K, N, known},
                                       static_cast<int>(m), parts);
                };
                const outcome want = go(0.f, 0, 1), got = go(NAN, zeros, 1);
                for (std::size_t i = 0; i < want.value.size(); ++i)
                    BOOST_TEST(std::abs(want.value[i] - got.value[i]) <= tolerance(m));
                BOOST_TEST((want.visits == got.visits));
                for (int parts = 2; parts <= 4; ++parts) BOOST_TEST((go(NAN, zeros, parts) == got));
            }
    // where there is no other row
    const outcome r = run<kernel>(floats(29, 0.f), floats(20, 1.f),
                                  static_cast<std::size_t>(panel_floats(29, 20, lanes)), {29, 20, 1}, 1, 1);
    BOOST_TEST(r.value[0] == 0);
}

BOOST_AUTO_TEST_CASE(gemm_tn_deeper_than_one_piece) {
    check_gemm_tn(cpu::gathered_floats / panel_width + 5, 130, 19);
    check_gemm_tn(2 * cpu::gathered_floats / panel_width, 5, 40);
    check_gemm_tn(2 * cpu::gathered_floats / panel_width + 1, 3, 40);
    // of few units: four vectors of inputs at once, or eight and four and one and a rest
    check_gemm_tn(32, 4 * lanes, 2);
    check_gemm_tn(32, 14 * lanes - 3, 1);
}

/// Programs compile the loops that their largest batch may come to: a smaller one must need no other.
BOOST_AUTO_TEST_CASE(smaller_batches_need_no_other_loops) {
    using forward = cpu::gemm<store_body>;
    using backward = cpu::gemm_tn<store_body>;
    using batched = cpu::matmul<true, false, store_body>;
    const std::int64_t batches[] = {1, 7, 8, 31, 32, 33, 64, 127, 128, 130, 512, 513, 4000};
    for (std::int64_t K : {1, 3, 4, 7, 16, 33, 64, 128, 784, 5000})
        for (std::int64_t N : {1, 2, 3, 7, 8, 10, 64, 128, 784})
            for (std::int64_t most : batches)
                for (std::int64_t m : batches) {
                    if (m > most) break;
                    const std::int64_t of_rows[] = {K, N, K, 0, 0}, of_weights[] = {K, N, 0};
                    // others do small ones, too
                    BOOST_TEST((forward::cases(of_rows, m) & ~forward::small & ~forward::cases(of_rows, most)) == 0);
                    BOOST_TEST(
                        (backward::cases(of_weights, m) & ~backward::small & ~backward::cases(of_weights, most)) == 0);
                }
    const auto rows = [](std::int64_t K, std::int64_t N, std::int64_t transposed, std::int64_t zeros) {
        const std::int64_t e[] = {K, N, K, transposed, zeros};
        return forward::cases(e, 64);
    };
    BOOST_TEST(rows(784, 10, 0, 0) == forward::ragged);
    BOOST_TEST(rows(784, 128, 0, 0) == forward::skips_zeros);
    BOOST_TEST(rows(784, 128, 1, 0) == (cpu::registers < 32 ? forward::transposes : 0));
    BOOST_TEST(rows(784, 129, 1, 0) == forward::ragged);
    BOOST_TEST(rows(784, 10, 0, 1) == (forward::begins_with_zeros | forward::ragged));
    const auto weights = [](std::int64_t K, std::int64_t N, std::int64_t m) {
        const std::int64_t e[] = {K, N, 0};
        return backward::cases(e, m);
    };
    BOOST_TEST(weights(64, 1, 64) == backward::narrow);
    BOOST_TEST(weights(4, 64, 64) == (cpu::small_tile_rows > 4 ? backward::few : backward::small));
    BOOST_TEST(weights(784, 128, 16) == 0);
    const int sparse = backward::skips_inputs | backward::skips_gradients | cpu::input_blocks(784).bit()
        << backward::widths;
    BOOST_TEST(weights(784, 128, 64) == sparse);
    BOOST_TEST(weights(784, 128, 4096) == (sparse | backward::copies));
    const std::int64_t shallow[] = {64, 64, cpu::least_copied_depth - 1}, deep[] = {64, 64, cpu::least_copied_depth};
    BOOST_TEST(batched::cases(shallow, 8) == 0);
    BOOST_TEST(batched::cases(deep, 8) == batched::copies);
}

BOOST_AUTO_TEST_CASE(a_rows_bits_do_not_depend_on_the_batch) {
    const std::int64_t K = 77, N = 21;
    const floats a = random_floats(64 * K, 6);
    floats packed(static_cast<std::size_t>(panel_floats(K, N, lanes)));
    pack_panels(random_floats(K * N, 7).data(), packed.data(), K, N, panel_width, lanes);
    const outcome all = run<cpu::gemm<store_body>>(a, packed, 64 * N, {K, N, K}, 64, 1);
    for (int m : {1, 3, 7, 20}) {
        const outcome few = run<cpu::gemm<store_body>>(a, packed, static_cast<std::size_t>(m * N), {K, N, K}, m, 1);
        BOOST_TEST(std::memcmp(few.value.data(), all.value.data(), few.value.size() * sizeof(float)) == 0);
    }
}

// Prefetched, they would be shared lines when their thread updates them.
BOOST_AUTO_TEST_CASE(a_thread_prefetches_no_other_threads_weights) {
    constexpr int panels = 8;
    const std::int64_t N = panels * panel_width, K = cpu::non_temporal_floats / N + 1;
    const cpu::product q{nullptr, K, 1, nullptr, 0, cpu::right::panels, 2 * cpu::tile_rows, N, K, false, 0, 0};
    const cpu::row_cover cover(q.rows);
    for (int threads : {1, 2, 4, 8})
        for (int thread = 0; thread < threads; ++thread) {
            call c;
            c.parts = panels;
            c.first = c.part = thread * panels / threads;
            c.end = (thread + 1) * panels / threads;
            for (int p = c.first; p < c.end; ++p) BOOST_TEST(cpu::panel_reads(q, c, cover, p).ahead == (p + 1 < c.end));
        }
}
