// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE pool
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/pool/avg_pool.hpp>
#include <sinter/kernel/cpu/pool/max_pool.hpp>

#include "conv_reference.hpp"

using namespace conv_test;

template <int H, int W, int C, int OH, int OW, int K, int S, int PT, int PL>
void check(int m, bool whole = false, bool nan = false) {
    BOOST_TEST_CONTEXT(H << 'x' << W << 'x' << C << " -> " << OH << 'x' << OW << ", " << K << 'x' << K << " stride "
                         << S << " padding " << PT << ' ' << PL << ", " << m << " images") {
        auto x = noise(std::size_t(m) * H * W * C, 1);
        if (whole)
            for (float& f : x) f = std::round(2 * f);
        if (nan)
            for (float& f : x) f = f == 2 ? NAN : f == -2 ? INFINITY : f;
        const auto dy = noise(std::size_t(m) * OH * OW * C, 2);
        std::vector<double> top(dy.size(), -INFINITY), mean(dy.size()), dmax(x.size()), dmean(x.size());
        std::vector<std::uint8_t> place(dy.size()), won(dy.size(), 255);
        std::vector<int> count(dy.size());
        const auto each = [&](auto f) {
            for (std::size_t o = 0; o < dy.size(); ++o)
                for (int q = 0; q < K * K; ++q) {
                    const int c = int(o % C), ox = int(o / C % OW), oy = int(o / C / OW % OH), n = int(o / C / OW / OH);
                    const int iy = oy * S - PT + q / K, ix = ox * S - PL + q % K;
                    if (iy >= 0 && ix >= 0 && iy < H && ix < W) f(o, ((std::size_t(n) * H + iy) * W + ix) * C + c, q);
                }
        };
        each([&](std::size_t o, std::size_t i, int q) {
            ++count[o];
            mean[o] += x[i];
            if (x[i] > top[o] || std::isnan(x[i])) top[o] = x[i], place[o] = std::uint8_t(q);
        });
        each([&](std::size_t o, std::size_t i, int q) {
            dmean[i] += double(dy[o]) / count[o];
            if (q == place[o]) dmax[i] += dy[o];
        });
        for (std::size_t o = 0; o < mean.size(); ++o) mean[o] /= count[o];

        const buffer xb(x), db(dy);
        buffer y(dy.size()), dx(x.size());
        float* winners = reinterpret_cast<float*>(won.data());
        for (int parts = 1; parts <= 5; ++parts) {
            y.clear(), dx.clear();
            std::fill(won.begin(), won.end(), 255);
            run<sinter::cpu::max_pool<H, W, C, OH, OW, K, K, S, S, PT, PL, store_raw>>(
                {xb.at.get(), parts == 1 ? nullptr : winners, nullptr, y.at.get()}, m, parts);
            const auto got = y.values();
            BOOST_TEST(std::equal(got.begin(), got.end(), top.begin(), top.end(), [](double a, double b) {
                return a == b || (std::isnan(a) && std::isnan(b));
            }));
            if (parts > 1) BOOST_TEST((won == place));
            if (nan) continue;
            won = place;
            run<sinter::cpu::max_pool_gradient<H, W, C, OH, OW, K, K, S, S, PT, PL, store_raw>>(
                {db.at.get(), winners, nullptr, dx.at.get()}, m, parts);
            BOOST_TEST(error(dx.values(), dmax, K * K) < 1);
            y.clear(), dx.clear();
            run<sinter::cpu::avg_pool<H, W, C, OH, OW, K, K, S, S, PT, PL, 0, store_raw>>(
                {xb.at.get(), nullptr, nullptr, y.at.get()}, m, parts);
            BOOST_TEST(error(y.values(), mean, K * K) < 1);
            run<sinter::cpu::avg_pool_gradient<H, W, C, OH, OW, K, K, S, S, PT, PL, 0, store_raw>>(
                {db.at.get(), nullptr, nullptr, dx.at.get()}, m, parts);
            BOOST_TEST(error(dx.values(), dmean, K * K) < 1);
        }
    }
}

BOOST_AUTO_TEST_CASE(windows_side_by_side) {
    check<28, 28, 6, 14, 14, 2, 2, 0, 0>(3);
    check<7, 9, 19, 3, 4, 2, 2, 0, 0>(2);
}
BOOST_AUTO_TEST_CASE(overlapping_and_padded) {
    check<11, 11, 16, 6, 6, 3, 2, 1, 1>(2);
    check<8, 7, 5, 4, 4, 3, 2, 0, 1>(3);
    check<6, 6, 33, 6, 6, 3, 1, 1, 1>(1);
    check<9, 9, 3, 3, 3, 2, 3, 0, 0>(2);    // gaps: some elements lie in no window
    check<7, 7, 40, 1, 1, 7, 7, 0, 0>(7);   // global
    check<16, 16, 1, 1, 1, 16, 16, 0, 0>(1);
    check<8, 8, 35, 8, 8, 3, 1, 1, 1>(2);
    check<7, 6, 18, 6, 5, 2, 1, 0, 0>(2);
    check<9, 10, 20, 5, 5, 4, 2, 1, 1>(2);  // too many elements for registers forward, four windows back
    check<11, 9, 33, 6, 5, 5, 2, 2, 2>(1);  // nine windows
    check<8, 7, 17, 8, 7, 5, 1, 2, 2>(1);   // too many either way
    check<2, 1, 16, 2, 1, 3, 1, 1, 1>(3);   // images smaller than windows
}
BOOST_AUTO_TEST_CASE(equal_elements_the_first_wins) {
    check<8, 8, 12, 4, 4, 2, 2, 0, 0>(2, true);
    check<9, 9, 7, 5, 5, 3, 2, 1, 1>(2, true);
}
BOOST_AUTO_TEST_CASE(nan_wins) {   // the last one; infinity wins over numbers alone
    check<8, 8, 12, 4, 4, 2, 2, 0, 0>(2, true, true);
    check<9, 9, 7, 5, 5, 3, 2, 1, 1>(2, true, true);
}
