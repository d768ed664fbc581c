// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE conv_dense
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/conv/conv_forward.hpp>
#include <sinter/kernel/cpu/conv/conv_input_gradient.hpp>
#include <sinter/kernel/cpu/conv/conv_pointwise.hpp>
#include <sinter/kernel/cpu/conv/conv_transpose_weights.hpp>
#include <sinter/kernel/cpu/conv/conv_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv/pointwise_weight_gradient.hpp>

#include "conv_reference.hpp"

using namespace conv_test;
using namespace sinter::cpu;

/// Says that it sums columns: tiles then pass through a buffer, where other bodies may be handed sums from registers.
struct store_raw_and_sum : store_raw {
    static constexpr int sums = 1;
};

template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
void check(int m) {
    const extents e{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL};
    BOOST_TEST_CONTEXT(H << 'x' << W << 'x' << CI << " -> " << OH << 'x' << OW << 'x' << CO << ", " << KH << 'x' << KW
                         << " stride " << S << " padding " << PT << ' ' << PL << ", " << m << " images") {
        const auto x = noise(e.x() * m, 1), dy = noise(e.y() * m, 2), w = noise(e.w(), 3);
        std::vector<double> y(dy.size()), dx(x.size()), dw(w.size());
        each_product(e, m, [&](std::size_t i, std::size_t o, std::size_t k) {
            y[o] += double(x[i]) * w[k];
            dx[i] += double(dy[o]) * w[k];
            dw[k] += double(x[i]) * dy[o];
        });
        const buffer xb(x), db(dy), wb(packed(w, KH * KW * CI, CO));
        buffer yb(y.size()), dxb(dx.size()), dwb(wb.n);
        using transpose = conv_transpose_weights<CI, CO, KH, KW>;
        scratch tb(transpose::floats);   // aligned, as plans place it: large ones are written line by line
        std::vector<float> y1, dx1;
        for (int parts = 1; parts <= 5; ++parts) {
            yb.clear();
            run<conv_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, store_raw>>(
                {xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
            if (parts == 1)
                BOOST_TEST(error(y1 = yb.values(), y, KH * KW * CI) < 1);
            else
                BOOST_TEST((y1 == yb.values()));
            if constexpr (CI < 4) {
                yb.clear();
                run<conv_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, store_raw_and_sum>>(
                    {xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
                BOOST_TEST((y1 == yb.values()));
            }

            std::fill_n(tb.at.get(), transpose::floats, NAN);
            run<transpose>({wb.at.get(), tb.at.get()}, 0, parts, true);
            dxb.clear();
            run<conv_input_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, store_raw>>(
                {db.at.get(), tb.at.get(), nullptr, dxb.at.get()}, m, parts);
            if (parts == 1)
                BOOST_TEST(error(dx1 = dxb.values(), dx, KH * KW * CO) < 1);
            else
                BOOST_TEST((dx1 == dxb.values()));

            if constexpr (KH == 1 && KW == 1 && PT == 0 && PL == 0) {
                yb.clear();
                run<typename nest<sinter::op::conv, store_raw, H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, 0>::type>(
                    {xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
                const auto y2 = yb.values();
                BOOST_TEST(error(y2, y, CI) < 1);
                yb.clear();
                run<typename nest<sinter::op::conv, store_raw_and_walk<3>, H, W, CI, OH, OW, CO, 1, 1, S, 0, 0,
                                  0>::type>(
                    {xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
                BOOST_TEST((yb.values() == y2));
                dxb.clear();
                run<typename nest<sinter::op::conv_input_gradient, store_raw, H, W, CI, OH, OW, CO, 1, 1, S, 0, 0,
                                  0>::type>(
                    {db.at.get(), tb.at.get(), nullptr, dxb.at.get()}, m, parts);
                const auto dx2 = dxb.values();
                BOOST_TEST(error(dx2, dx, CO) < 1);
                dxb.clear();
                run<typename nest<sinter::op::conv_input_gradient, store_raw_and_walk<3>, H, W, CI, OH, OW, CO, 1, 1, S,
                                  0, 0, 0>::type>(
                    {db.at.get(), tb.at.get(), nullptr, dxb.at.get()}, m, parts);
                BOOST_TEST((dxb.values() == dx2));
            }

            const auto check_weight_gradient = [&](auto kernel) {
                using weight_gradient = typename decltype(kernel)::type;
                dwb.clear();
                run<weight_gradient>({xb.at.get(), db.at.get(), nullptr, dwb.at.get()}, m, parts);
                const auto first = dwb.values();
                BOOST_TEST(error(unpacked(first, KH * KW * CI, CO), dw, double(OH) * OW * m) < 1);
                BOOST_TEST((packed(unpacked(first, KH * KW * CI, CO), KH * KW * CI, CO) == first));   // padding is zero
                dwb.clear();
                run<weight_gradient>({xb.at.get(), db.at.get(), nullptr, dwb.at.get()}, m, parts, true);
                BOOST_TEST((dwb.values() == first));
            };
            check_weight_gradient(
                std::type_identity<conv_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, store_raw>>{});
            using by_windows = window_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, store_raw>;
            check_weight_gradient(std::type_identity<by_windows>{});
            if constexpr (KH == 1 && KW == 1 && PT == 0 && PL == 0) {
                using dense = pointwise_weight_gradient<CI, CO, OH * OW, store_raw>;
                using strided = strided_pointwise_weight_gradient<H, W, CI, OH, OW, CO, S, store_raw>;
                check_weight_gradient(
                    std::type_identity<std::conditional_t<S == 1 && OH == H && OW == W, dense, strided>>{});
            }
        }
    }
}

/// What the sanitizers see with other shapes.
template <int... Extents>
void unsanitized(int m) {
    if constexpr (!sanitized) check<Extents...>(m);
}

BOOST_AUTO_TEST_CASE(same_3x3) {
    unsanitized<14, 14, 32, 14, 14, 64, 3, 3, 1, 1, 1>(3);
    unsanitized<7, 5, 8, 7, 5, 24, 3, 3, 1, 1, 1>(2);
    unsanitized<9, 13, 1, 9, 13, 32, 3, 3, 1, 1, 1>(2);
    check<6, 17, 2, 6, 17, 45, 3, 3, 1, 1, 1>(3);   // several panels, the last of them not whole
    check<31, 70, 3, 31, 70, 40, 3, 3, 1, 1, 1>(2);   // weights' gradients some rows at a time
}
BOOST_AUTO_TEST_CASE(few_channels_5x5) {
    unsanitized<28, 28, 1, 28, 28, 6, 5, 5, 1, 2, 2>(3);
    check<14, 14, 6, 10, 10, 16, 5, 5, 1, 0, 0>(3);
    unsanitized<6, 6, 3, 6, 6, 5, 5, 5, 1, 2, 2>(1);
}
BOOST_AUTO_TEST_CASE(strides) {
    unsanitized<8, 8, 5, 4, 4, 7, 3, 3, 2, 0, 0>(2);   // TensorFlow's `same`: the padding lies below and right only
    unsanitized<9, 7, 16, 5, 4, 17, 3, 3, 2, 1, 1>(2);
    check<11, 11, 3, 4, 4, 20, 3, 3, 3, 0, 0>(1);
    unsanitized<15, 15, 4, 8, 8, 9, 1, 1, 2, 0, 0>(2);   // most inputs take no part
    check<19, 18, 3, 10, 9, 33, 7, 7, 2, 3, 2>(1);
    unsanitized<41, 70, 3, 21, 35, 40, 7, 7, 2, 3, 2>(2);   // some rows at a time
    unsanitized<10, 10, 2, 3, 3, 3, 2, 2, 3, 0, 0>(2);
}
BOOST_AUTO_TEST_CASE(large_weights) {   // parts sum rows of the gradient, or panels, instead of images
    unsanitized<12, 11, 60, 12, 11, 124, 3, 3, 1, 1, 1>(3);
    check<9, 9, 150, 9, 9, 440, 1, 1, 1, 0, 0>(4);
    unsanitized<4, 5, 61, 4, 5, 250, 3, 3, 1, 1, 1>(3);
    // an image is larger than what its panels read: they pass for each
    check<21, 20, 90, 11, 10, 92, 3, 3, 2, 1, 1>(3);
}
BOOST_AUTO_TEST_CASE(single_pixels) {
    check<13, 11, 40, 13, 11, 52, 1, 1, 1, 0, 0>(3);
    unsanitized<13, 12, 21, 7, 6, 33, 1, 1, 2, 0, 0>(3);
    unsanitized<9, 8, 12, 3, 3, 20, 1, 1, 3, 0, 0>(2);
    check<16, 34, 64, 8, 17, 40, 1, 1, 2, 0, 0>(3);   // whole panels of channels, every other pixel and row
    check<5, 7, 70, 5, 7, 300, 1, 1, 1, 0, 0>(3);
    check<5, 7, 2060, 5, 7, 40, 1, 1, 1, 0, 0>(1);
    // rows of results a page and more apart, some columns of all pixels at a time
    check<6, 7, 256, 6, 7, 1070, 1, 1, 1, 0, 0>(2);
    check<5, 7, 1024, 5, 7, 40, 1, 1, 1, 0, 0>(2);   // pixels pages apart, of images and of gradients
    check<8, 16, 64, 4, 8, 1024, 1, 1, 2, 0, 0>(2);
    check<9, 8, 12, 8, 6, 20, 1, 1, 1, 0, 0>(2);   // the last row and columns take no part
}
BOOST_AUTO_TEST_CASE(extreme_shapes) {
    check<1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0>(1);
    unsanitized<5, 4, 3, 1, 1, 10, 5, 4, 1, 0, 0>(7);   // the kernel is as large as the image
    check<3, 2, 7, 3, 2, 9, 5, 5, 1, 2, 2>(2);    // and larger
    check<1, 31, 4, 1, 31, 18, 1, 9, 1, 0, 4>(1);
    unsanitized<6, 6, 40, 6, 6, 40, 1, 1, 1, 0, 0>(2);
}
