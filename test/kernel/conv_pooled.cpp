// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE conv_pooled
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/conv/conv_transpose_weights.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_max_pool_forward.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_pooled_input_gradient.hpp>
#include <sinter/kernel/cpu/conv_pool/conv_pooled_weight_gradient.hpp>

#include <sinter/kernel/cpu/rowwise/body.hpp>
#include <sinter/ops/add.hpp>

#include "conv_reference.hpp"

using namespace conv_test;
using namespace sinter::cpu;

/// `alive`: the share of the pooled gradient that is not zero. `whole`: small integers as operands, so that windows
/// hold equal elements and sums are exact.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P>
void check(int m, double alive, bool whole = false) {
    const extents e{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL};
    BOOST_TEST_CONTEXT(H << 'x' << W << 'x' << CI << " -> " << OH << 'x' << OW << 'x' << CO << ", " << KH << 'x' << KW
                         << " stride " << S << " padding " << PT << ' ' << PL << " pool " << P << ", " << m
                         << " images") {
        auto x = noise(e.x() * m, 1), w = noise(e.w(), 3);
        if (whole) {
            for (float& f : x) f = std::round(f);
            for (float& f : w) f = std::round(f);
        }
        std::vector<double> y(e.y() * m), dx(x.size()), dw(w.size());
        each_product(e, m, [&](std::size_t i, std::size_t o, std::size_t k) { y[o] += double(x[i]) * w[k]; });
        const int PH = OH / P, PW = OW / P;
        const std::size_t pooled = std::size_t(m) * PH * PW * CO;
        auto d = noise(pooled, 4), chance = noise(pooled, 5);
        std::vector<double> top(pooled), dy(y.size());
        std::vector<std::uint8_t> winner(pooled);
        for (std::size_t i = 0; i < pooled; ++i) {
            if (chance[i] > 2 * alive - 1) d[i] = 0;
            const std::size_t o = i % CO, px = i / CO % PW, py = i / CO / PW % PH, n = i / CO / PW / PH;
            auto at = [&](int q) { return ((n * OH + py * P + q / P) * OW + px * P + q % P) * CO + o; };
            int best = 0;
            for (int q = 1; q < P * P; ++q)
                if (y[at(q)] > y[at(best)]) best = q;
            top[i] = y[at(best)];
            winner[i] = std::uint8_t(best);
            dy[at(best)] = d[i];
        }
        each_product(e, m, [&](std::size_t i, std::size_t o, std::size_t k) {
            dx[i] += dy[o] * w[k];
            dw[k] += double(x[i]) * dy[o];
        });

        const buffer xb(x), db(d), wb(packed(w, KH * KW * CI, CO));
        buffer yb(pooled), dxb(x.size()), dwb(wb.n);
        using transpose = conv_transpose_weights<CI, CO, KH, KW>;
        const scratch tb(transpose::floats);   // stored by non-temporal stores where they are many, line by line
        run<transpose>({wb.at.get(), tb.at.get()}, 0, 1);
        std::vector<float> y1, dx1;
        for (int parts = 1; parts <= 5; ++parts) {
            using forward = conv_max_pool_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, store_raw>;
            std::vector<std::uint8_t> won(pooled, 255);
            yb.clear();
            run<forward>({xb.at.get(), wb.at.get(), reinterpret_cast<float*>(won.data()), yb.at.get()}, m, parts);
            if (parts == 1) {
                BOOST_TEST(error(y1 = yb.values(), top, KH * KW * CI) < 1);
                // Rounding may decide between nearly equal elements; integers have none.
                std::size_t differ = 0;
                for (std::size_t i = 0; i < pooled; ++i) differ += won[i] != winner[i];
                BOOST_TEST(differ <= (whole ? 0 : pooled / 1000));
                yb.clear();
                run<forward>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, 1);
            }
            BOOST_TEST((y1 == yb.values()));

            float* winners = reinterpret_cast<float*>(winner.data());
            dxb.clear();
            run<conv_pooled_input_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, store_raw>>(
                {db.at.get(), tb.at.get(), winners, dxb.at.get()}, m, parts);
            if (parts == 1)
                BOOST_TEST(error(dx1 = dxb.values(), dx, KH * KW * CO) < 1);
            else
                BOOST_TEST((dx1 == dxb.values()));

            using weight_gradient = conv_pooled_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, store_raw>;
            dwb.clear();
            run<weight_gradient>({xb.at.get(), db.at.get(), winners, dwb.at.get()}, m, parts);
            const auto first = dwb.values();
            BOOST_TEST(error(unpacked(first, KH * KW * CI, CO), dw, double(PH) * PW * m) < 1);
            BOOST_TEST((packed(unpacked(first, KH * KW * CI, CO), KH * KW * CI, CO) == first));   // padding is zero
            dwb.clear();
            run<weight_gradient>({xb.at.get(), db.at.get(), winners, dwb.at.get()}, m, parts, true);
            BOOST_TEST((dwb.values() == first));
        }
    }
}

/// What the sanitizers see with other shapes.
template <int... Extents>
void unsanitized(int m, double alive, bool whole = false) {
    if constexpr (!sanitized) check<Extents...>(m, alive, whole);
}

BOOST_AUTO_TEST_CASE(the_layers_of_the_nets) {
    check<28, 28, 1, 28, 28, 6, 5, 5, 1, 2, 2, 2>(3, 0.6);
    check<14, 14, 6, 10, 10, 16, 5, 5, 1, 0, 0, 2>(3, 0.6);
    check<28, 28, 1, 28, 28, 32, 3, 3, 1, 1, 1, 2>(2, 0.6);
    unsanitized<14, 14, 32, 14, 14, 64, 3, 3, 1, 1, 1, 2>(2, 0.6);
}
BOOST_AUTO_TEST_CASE(densities_and_ties) {
    check<8, 6, 5, 8, 6, 7, 3, 3, 1, 1, 1, 2>(2, 0, true);
    check<8, 6, 5, 8, 6, 7, 3, 3, 1, 1, 1, 2>(2, 1, true);
    unsanitized<8, 8, 1, 8, 8, 3, 3, 3, 1, 1, 1, 2>(2, 1, true);
}
BOOST_AUTO_TEST_CASE(odd_shapes) {
    unsanitized<7, 9, 3, 7, 9, 10, 3, 3, 1, 1, 1, 2>(2, 0.5);   // a row and a column fill no window
    check<9, 9, 18, 9, 9, 19, 3, 3, 1, 1, 1, 3>(2, 0.5);
    check<13, 12, 4, 7, 6, 33, 3, 3, 2, 1, 0, 2>(2, 0.7);   // strided
    check<6, 6, 2, 6, 6, 4, 1, 1, 1, 0, 0, 2>(1, 0.5);
    check<5, 5, 9, 5, 5, 8, 7, 7, 1, 3, 3, 5>(2, 0.9);
    check<4, 4, 12, 2, 2, 6, 3, 3, 1, 0, 0, 1>(6, 0.8);   // a pool of one element
}

BOOST_AUTO_TEST_CASE(gradients_that_lie_spread_out) {   // zeros and all, as behind pools whose windows overlap
    unsanitized<23, 21, 3, 12, 11, 18, 7, 7, 2, 2, 3, 1>(3, 0.2);      // strided, rows that fill no vectors
    check<9, 9, 16, 9, 9, 70, 5, 5, 1, 2, 2, 1>(2, 0.2);
    unsanitized<24, 24, 8, 24, 24, 5, 3, 3, 1, 1, 1, 1>(1, 0.3);       // rows in several blocks
    check<4, 17000, 16, 1, 4250, 5, 1, 1, 4, 0, 0, 1>(1, 0.2);   // places beyond 16 bits
}
BOOST_AUTO_TEST_CASE(many_channels_that_come_out) {
    check<6, 6, 32, 6, 6, 150, 1, 1, 1, 0, 0, 2>(2, 0.6);   // winners in several words
    check<9, 9, 32, 9, 9, 70, 3, 3, 1, 1, 1, 3>(2, 0.5);    // in two blocks of channels, the patch not in registers
}
BOOST_AUTO_TEST_CASE(lists_of_winners) {
    unsanitized<40, 40, 16, 40, 40, 8, 3, 3, 1, 1, 1, 2>(1, 0.6);   // rows of windows in two blocks
    unsanitized<16, 4100, 16, 4, 1025, 5, 1, 1, 4, 0, 0, 4>(1, 0.6);   // places beyond 16 bits
}
template <int CI, int CO, int P>
constexpr bool shared = pooled_filter_shares<6, 7, CI, 6, 7, CO, 3, 3, 1, 1, 1, P, store_raw>::pays;
BOOST_AUTO_TEST_CASE(large_gradients) {   // parts are output channels
    static_assert(shared<236, 256, 2> && shared<236, 256, 1> && !shared<236, 40, 2>);
    check<6, 7, 236, 6, 7, 256, 3, 3, 1, 1, 1, 2>(2, 0.6);   // rows of taps that fill no vectors
    check<6, 7, 236, 6, 7, 256, 3, 3, 1, 1, 1, 1>(2, 0.3);
}
BOOST_AUTO_TEST_CASE(lanes_along_windows_or_over_several) {
    check<28, 40, 3, 28, 40, 4, 3, 4, 1, 1, 1, 2>(2, 0.6);     // rows of windows longer than vectors, an even filter
    unsanitized<28, 28, 1, 28, 28, 7, 3, 3, 1, 1, 1, 2>(2, 1, true); // channels in two groups; ties
    unsanitized<16, 16, 1, 16, 16, 2, 3, 3, 1, 1, 1, 2>(3, 0.6);
    unsanitized<10, 10, 2, 10, 10, 5, 5, 5, 1, 2, 2, 2>(2, 0.6);     // five windows a row, two in a vector
}
BOOST_AUTO_TEST_CASE(lanes_along_images) {   // of which some are left over
    unsanitized<10, 10, 1, 10, 10, 5, 5, 5, 1, 2, 2, 2>(19, 0.6);
    check<13, 11, 2, 13, 11, 3, 3, 4, 1, 1, 1, 2>(11, 0.6);    // a row and a column fill no window
    unsanitized<15, 13, 3, 7, 6, 3, 3, 3, 2, 0, 1, 2>(9, 1, true);   // strided, copies that leave a row out; ties
}
BOOST_AUTO_TEST_CASE(patches_of_one_channel) {
    unsanitized<19, 37, 1, 19, 37, 3, 5, 3, 1, 2, 1, 3>(2, 0.6);   // an odd channel left, rows of more than two lines
    unsanitized<17, 19, 1, 9, 10, 5, 4, 4, 2, 1, 2, 2>(3, 0.6);    // strided
}
BOOST_AUTO_TEST_CASE(strips_of_windows) {
    unsanitized<18, 14, 6, 14, 10, 19, 5, 5, 1, 0, 0, 2>(2, 0.6);    // seven rows of windows in two strips
    unsanitized<9, 9, 6, 9, 9, 5, 3, 3, 1, 1, 1, 3>(2, 0.6);
    unsanitized<14, 14, 6, 10, 10, 70, 5, 5, 1, 0, 0, 2>(2, 0.6);    // winners in several words
}

/// Integers with NaN among them: a window that sees one is NaN, and its last NaN is its winner.
template <int H, int W, int CI, int CO, int P>
void check_nan() {
    constexpr extents e{H, W, CI, H, W, CO, 3, 3, 1, 1, 1};
    auto x = noise(e.x(), 1), w = noise(e.w(), 3);
    for (float& f : x) f = f > 0.98f ? NAN : std::round(f);
    for (float& f : w) f = std::round(f) + 3;
    std::vector<double> y(e.y());
    each_product(e, 1, [&](std::size_t i, std::size_t o, std::size_t k) { y[o] += double(x[i]) * w[k]; });
    const buffer xb(x), wb(packed(w, 9 * CI, CO));
    buffer yb(std::size_t(H / P) * (W / P) * CO);
    std::vector<std::uint8_t> won(yb.n, 255);
    run<conv_max_pool_forward<H, W, CI, H, W, CO, 3, 3, 1, 1, 1, P, store_raw>>(
        {xb.at.get(), wb.at.get(), reinterpret_cast<float*>(won.data()), yb.at.get()}, 1, 1);
    const auto got = yb.values();
    int nans = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t o = i % CO, px = i / CO % (W / P), py = i / CO / (W / P);
        std::vector<double> window;
        for (int q = 0; q < P * P; ++q) window.push_back(y[((py * P + q / P) * W + px * P + q % P) * CO + o]);
        std::size_t best = 0;
        for (std::size_t q = 0; q < window.size(); ++q)
            if (window[q] > window[best] || std::isnan(window[q])) best = q;
        nans += std::isnan(window[best]);
        BOOST_TEST((got[i] == window[best] || (std::isnan(got[i]) && std::isnan(window[best]))));
        BOOST_TEST(int(won[i]) == int(best));
    }
    BOOST_TEST(nans > 0);
    BOOST_TEST(nans < int(got.size()));
}
BOOST_AUTO_TEST_CASE(nan_wins) {
    check_nan<8, 8, 1, 3, 2>();    // in registers
    check_nan<32, 32, 1, 2, 2>();  // along windows
    check_nan<9, 9, 18, 19, 3>();  // through a buffer
}

constexpr std::uint64_t code(sinter::compiler::instruction w) { return w.pack(); }
constexpr std::uint16_t of(sinter::compiler::opcode i) { return static_cast<std::uint16_t>(i); }
constexpr std::uint16_t of(sinter::op_id k) { return static_cast<std::uint16_t>(k); }
/// Adds p[4], of one number a column, and stores to p[3].
using plus_addend = body<code({.code = of(sinter::compiler::opcode::accumulator)}),
                  code({.code = of(sinter::compiler::opcode::load), .map = int(sinter::compiler::row_map::none) |
                        sinter::compiler::instruction::along_columns, .arg = 4}),
                  code({.code = of(sinter::op::add), .a = 0, .b = 1}),
                  code({.code = of(sinter::compiler::opcode::store), .a = 2, .arg = 3})>;

/// What the kernels hand to a body of which a vector may take several rows: the same numbers, and
/// each its own column's addend.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
void check_body(int m) {
    static_assert(plus_addend::alike);
    const extents e{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL};
    const std::size_t pooled = std::size_t(m) * (OH / 2) * (OW / 2) * CO;
    const auto x = noise(e.x() * m, 1), w = noise(e.w(), 3), d = noise(pooled, 4), addends = noise(std::max(CI, CO), 6);
    const buffer xb(x), db(d), wb(packed(w, KH * KW * CI, CO)), ab(addends);
    std::vector<std::uint8_t> plain_won(pooled, 255), won(pooled, 255);
    const auto plus = [&](std::vector<float> v, std::size_t columns) {
        for (std::size_t i = 0; i < v.size(); ++i) v[i] += addends[i % columns];
        return v;
    };
    buffer plain(pooled), got(pooled);
    run<conv_max_pool_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 2, store_raw>>(
        {xb.at.get(), wb.at.get(), reinterpret_cast<float*>(plain_won.data()), plain.at.get()}, m, 1);
    run<conv_max_pool_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 2, plus_addend>>(
        {xb.at.get(), wb.at.get(), reinterpret_cast<float*>(won.data()), got.at.get(), ab.at.get()}, m, 2);
    BOOST_TEST((got.values() == plus(plain.values(), CO)));
    BOOST_TEST((won == plain_won));

    using transpose = conv_transpose_weights<CI, CO, KH, KW>;
    buffer tb(transpose::floats), plain_dx(x.size()), dx(x.size());
    run<transpose>({wb.at.get(), tb.at.get()}, 0, 1);
    float* winners = reinterpret_cast<float*>(won.data());
    run<conv_pooled_input_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 2, store_raw>>(
        {db.at.get(), tb.at.get(), winners, plain_dx.at.get()}, m, 1);
    run<conv_pooled_input_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 2, plus_addend>>(
        {db.at.get(), tb.at.get(), winners, dx.at.get(), ab.at.get()}, m, 2);
    BOOST_TEST((dx.values() == plus(plain_dx.values(), CI)));
}
BOOST_AUTO_TEST_CASE(bodies_that_take_several_rows) {
    check_body<28, 28, 1, 28, 28, 6, 5, 5, 1, 2, 2>(3);
    check_body<28, 28, 1, 28, 28, 5, 3, 3, 1, 1, 1>(2);
    check_body<28, 40, 3, 28, 40, 6, 3, 4, 1, 1, 1>(2);   // twenty windows a row
    check_body<14, 14, 6, 10, 10, 16, 5, 5, 1, 0, 0>(3);
    check_body<8, 8, 2, 8, 8, 3, 3, 3, 1, 1, 1>(2);
}
