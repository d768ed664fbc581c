// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
// Convolutions with so few channels that go out that lanes run along those that come in.
#define BOOST_TEST_MODULE conv_narrow
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/conv/conv_forward.hpp>
#include <sinter/kernel/cpu/conv/conv_pointwise.hpp>
#include <sinter/kernel/cpu/conv/conv_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv/pointwise_weight_gradient.hpp>

#include "conv_reference.hpp"

using namespace conv_test;
using namespace sinter::cpu;

BOOST_AUTO_TEST_CASE(sums_of_lanes_are_in_order) {
    vf r[lanes];
    for (int i = 0; i < lanes; ++i)
        for (int l = 0; l < lanes; ++l) r[i][l] = static_cast<float>((i + 1) * 100 + l * l);
    const vf s = sums_of_lanes(r);
    float squares = 0;
    for (int l = 0; l < lanes; ++l) squares += static_cast<float>(l * l);
    for (int i = 0; i < lanes; ++i) {
        const float sum = s[i];
        BOOST_TEST(sum == static_cast<float>((i + 1) * 100 * lanes) + squares);
    }
}

/// V vectors of channels to CO; the nest's choice for them, wherever there are vectors of eight.
template <int H, int W, int V, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, bool Forward = true>
void check(int m) {
    if constexpr (lanes >= 8 && CO <= lanes / 2) {
        constexpr int CI = V * lanes;
        const extents e{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL};
        using forward = typename nest<sinter::op::conv, store_raw, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0>::type;
        using gradient = typename nest<sinter::op::conv_weight_gradient, store_raw, H, W, CI, OH, OW, CO, KH, KW, S, PT,
                                       PL, 0>::type;
        static_assert(std::is_same_v<forward, narrow_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, store_raw>> ==
                      Forward);
        static_assert(std::is_same_v<gradient,
                                     narrow_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, store_raw>>);
        BOOST_TEST_CONTEXT(H << 'x' << W << 'x' << CI << " -> " << OH << 'x' << OW << 'x' << CO
                             << ", " << KH << 'x' << KW << " stride " << S << " padding " << PT << ' ' << PL
                             << ", " << m << " images") {
            const auto x = noise(e.x() * m, 1), dy = noise(e.y() * m, 2), w = noise(e.w(), 3);
            std::vector<double> y(dy.size()), dw(w.size());
            each_product(e, m, [&](std::size_t i, std::size_t o, std::size_t k) {
                y[o] += double(x[i]) * w[k];
                dw[k] += double(x[i]) * dy[o];
            });
            const buffer xb(x), db(dy), wb(packed(w, KH * KW * CI, CO));
            buffer yb(y.size()), dwb(wb.n);
            std::vector<float> y1;
            for (int parts = 1; parts <= 3; ++parts) {
                yb.clear();
                run<forward>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
                if (parts == 1) BOOST_TEST(error(y1 = yb.values(), y, KH * KW * CI) < 1);
                else BOOST_TEST((y1 == yb.values()));
                dwb.clear();
                run<gradient>({xb.at.get(), db.at.get(), nullptr, dwb.at.get()}, m, parts);
                const auto first = dwb.values(), plain = unpacked(first, KH * KW * CI, CO);
                BOOST_TEST(error(plain, dw, double(OH) * OW * m) < 1);
                BOOST_TEST((packed(plain, KH * KW * CI, CO) == first));   // padding is zero
                dwb.clear();
                run<gradient>({xb.at.get(), db.at.get(), nullptr, dwb.at.get()}, m, parts, true);
                BOOST_TEST((dwb.values() == first));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(three_by_three) {
    check<9, 17, 1, 9, 17, 1, 3, 3, 1, 1, 1>(2);
    check<12, 32, 2, 12, 32, 3, 3, 3, 1, 1, 1>(3);
    check<7, 16, 3, 7, 16, 2, 3, 3, 1, 1, 1>(1);
    check<5, 18, 1, 3, 16, 4, 3, 3, 1, 0, 0>(2);
    check<40, 24, 2, 40, 24, 3, 3, 3, 1, 1, 1>(2);   // some rows at a time
}
BOOST_AUTO_TEST_CASE(all_numbers_of_channels) {
    check<6, 9, 1, 6, 9, 5, 3, 3, 1, 1, 1>(2);
    check<6, 9, 2, 6, 9, 6, 3, 3, 1, 1, 1>(2);
    check<6, 9, 1, 6, 9, 7, 3, 3, 1, 1, 1>(2);
    check<6, 9, 2, 6, 9, 8, 3, 3, 1, 1, 1>(2);
}
BOOST_AUTO_TEST_CASE(other_windows) {
    check<11, 20, 1, 11, 20, 3, 5, 5, 1, 2, 2>(2);
    check<11, 20, 1, 11, 20, 1, 7, 7, 1, 3, 3>(1);
    check<1, 50, 2, 1, 50, 2, 1, 5, 1, 0, 2>(2);
    check<30, 16, 1, 30, 16, 2, 5, 1, 1, 2, 0>(1);
    check<9, 16, 1, 10, 17, 2, 2, 2, 1, 1, 1>(2);    // padding on one side
    check<8, 40, 1, 8, 40, 1, 3, 3, 1, -1, -2>(2);   // a crop: zeros below and to the right
}
BOOST_AUTO_TEST_CASE(strides) {
    check<16, 40, 2, 8, 20, 3, 3, 3, 2, 0, 0>(2);   // TensorFlow's `same`: the padding lies below and right only
    check<15, 35, 1, 8, 18, 2, 3, 3, 2, 1, 1>(2);
    check<13, 33, 1, 5, 11, 4, 3, 3, 3, 1, 1>(2);
    check<10, 40, 1, 4, 16, 1, 2, 2, 3, 0, 0>(1);
}
BOOST_AUTO_TEST_CASE(single_pixels) {
    check<8, 24, 2, 8, 24, 1, 1, 1, 1, 0, 0>(3);
    check<8, 24, 1, 8, 24, 3, 1, 1, 1, 0, 0>(2);
    check<9, 17, 3, 9, 17, 4, 1, 1, 1, 0, 0>(2);
    check<10, 32, 1, 5, 16, 2, 1, 1, 2, 0, 0>(2);
}
BOOST_AUTO_TEST_CASE(rows_shorter_than_a_tile_and_windows_wider_than_one) {
    check<5, 3, 1, 5, 3, 1, 3, 3, 1, 1, 1, false>(3);   // forward by channels
    check<6, 9, 1, 6, 9, 8, 7, 7, 1, 3, 3, false>(2);
    check<4, 2, 1, 4, 2, 1, 5, 5, 1, 2, 2, false>(2);
}
