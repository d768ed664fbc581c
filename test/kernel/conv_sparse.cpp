// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE conv_sparse
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <sinter/kernel/cpu/conv/conv_forward.hpp>
#include <sinter/kernel/cpu/conv/conv_pointwise.hpp>
#include <sinter/kernel/cpu/conv/pointwise_weight_gradient.hpp>

#include "conv_reference.hpp"

// Convolutions of images half of which is zero, as behind relu.
using namespace conv_test;
using namespace sinter::cpu;

std::vector<float> half_zero(std::size_t n, unsigned seed, float above) {
    auto x = noise(n, seed);
    for (float& v : x) v = v > above ? v : 0;
    return x;
}

/// Equal, or both not a number.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
        if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
    return a.size() == b.size();
}

/// The forward product of images that are not sparse, by the tiles.
template <int HW, int CI, int CO>
std::vector<float> by_tiles(const buffer& x, const buffer& w, int m) {
    buffer y(std::size_t(m) * HW * CO);
    float* p[] = {x.at.get(), w.at.get(), nullptr, y.at.get()};
    sinter::runtime::call c;
    c.p = p;
    run_pixels({x.at.get(), CI, 1, w.at.get(), 0, right::panels, std::int64_t{m} * HW, CO, CI, false, 0, 0},
               epilogue_of<store_raw>(), c);
    return y.values();
}

template <int HW, int CI, int CO>
void check_forward(int m, float above) {
    const extents e{1, HW, CI, 1, HW, CO, 1, 1, 1, 0, 0};
    const auto x = half_zero(e.x() * m, 1, above);
    auto w = noise(e.w(), 3);
    std::vector<double> y(e.y() * m);
    each_product(e, m, [&](std::size_t i, std::size_t o, std::size_t k) { y[o] += double(x[i]) * w[k]; });
    for (const bool finite : {true, false}) {
        if (!finite) w[w.size() / 2] = INFINITY, w[w.size() - 1] = NAN;
        const buffer xb(x), wb(packed(w, CI, CO));
        const auto tiles = by_tiles<HW, CI, CO>(xb, wb, m);
        for (int parts = 1; parts <= 3; ++parts) {
            buffer yb(y.size());
            using forward = pointwise_forward<1, HW, CI, 1, HW, CO, 1, store_raw>;
            run<forward>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
            const auto y1 = yb.values();
            if (finite) BOOST_TEST(error(y1, y, CI) < 1);
            BOOST_TEST(same(y1, tiles));
            yb.clear();
            using listing = pointwise_forward<1, HW, CI, 1, HW, CO, 1, store_raw_and_walk<1>>;
            run<listing>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
            BOOST_TEST(same(yb.values(), tiles));
        }
    }
}

BOOST_AUTO_TEST_CASE(forward) {
    static_assert(pointwise_forward<1, 100, 64, 1, 100, 4 * panel_width, 1, store_raw>::skips_zeros);
    check_forward<100, 64, 4 * panel_width>(3, 0);            // one word of the depth
    check_forward<75, 192, 8 * panel_width + 8>(2, 0);        // columns left over
    check_forward<90, 5 * 16, 9 * panel_width>(1, 0.2f);      // a word that is not whole
    check_forward<150, 1024, 4 * panel_width>(4, -0.2f);      // several blocks of rows
    check_forward<100, 64, 4 * panel_width>(1, 0.99f);        // hardly anything is left
}
/// Pixels that a walk makes as the kernel comes to them, from another array; each once.
struct made_by_copies {
    const float* from;
    float* to;
    std::int64_t columns;
    std::vector<int> made;
};
made_by_copies* copies_of(const sinter::runtime::call& c) { return reinterpret_cast<made_by_copies*>(c.scratch); }
constexpr sinter::runtime::row_functions rows_by_copies{
    [](std::int64_t first, std::int64_t end, const sinter::runtime::call& c) {
        made_by_copies& w = *copies_of(c);
        for (std::int64_t i = first; i < end; ++i) ++w.made[std::size_t(i)];
        std::copy(w.from + first * w.columns, w.from + end * w.columns, w.to + first * w.columns);
    },
    [](const sinter::runtime::call& c, const float** to) {
        to[0] = copies_of(c)->from;
        to[1] = copies_of(c)->to;
        return 2;
    }};

template <int HW, int CI, int CO>
void check_led(int m, float above) {
    const extents e{1, HW, CI, 1, HW, CO, 1, 1, 1, 0, 0};
    const auto x = half_zero(e.x() * m, 1, above);
    const buffer xb(x), wb(packed(noise(e.w(), 3), CI, CO));
    const auto tiles = by_tiles<HW, CI, CO>(xb, wb, m);
    const std::vector<int> once(std::size_t(HW * m), 1);
    const auto check = [&](auto body, int parts) {
        const buffer made(x.size());   // nothing is there yet
        made_by_copies walk{x.data(), made.at.get(), CI, std::vector<int>(once.size(), 0)};
        sinter::runtime::call of_walk;
        of_walk.scratch = reinterpret_cast<float*>(&walk);
        buffer yb(e.y() * m);
        using forward = pointwise_forward<1, HW, CI, 1, HW, CO, 1, decltype(body)>;
        run<forward>({made.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts, parts == 3, no_extents,
                     {&rows_by_copies, &of_walk});
        BOOST_TEST(same(yb.values(), tiles));
        BOOST_TEST(walk.made == once);
    };
    for (int parts = 1; parts <= 5; parts += 2) {
        check(store_raw{}, parts);
        check(store_raw_and_walk<1>{}, parts);
        check(store_raw_and_walk<3>{}, parts);
    }
}
BOOST_AUTO_TEST_CASE(pixels_that_a_walk_makes) {
    check_led<100, 64, 4 * panel_width>(3, 0);
    check_led<300, 64, 4 * panel_width>(1, -0.2f);            // lists of several blocks
    check_led<75, 192, 8 * panel_width + 8>(2, -1);           // no zeros
    check_led<150, 1024, 4 * panel_width>(2, 0);
    check_led<150, 1024, 2 * panel_width + 3>(2, -1);         // copied to where pixels do not meet; weights pass by
    check_led<90, 256, 24 * panel_width>(2, -1);              // some columns of all pixels at a time
    check_led<13, 40, 52>(3, -1);
    check_led<5, 2060, 40>(1, -1);
    check_led<1, 7, 3>(4, 0);                                 // parts of a pixel, or none
}
BOOST_AUTO_TEST_CASE(few_rows_and_few_zeros) {
    check_forward<11, 64, 4 * panel_width>(2, 0);
    check_forward<100, 64, 4 * panel_width>(1, -0.9f);
}

template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
void check_windows(int m, float above) {
    using chosen = nest<sinter::op::conv, store_raw_and_walk<1>, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0>;
    static_assert(std::is_same_v<typename chosen::type, typename chosen::sparse>);
    const extents e{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL};
    const auto x = half_zero(e.x() * m, 1, above);
    auto w = noise(e.w(), 3);
    std::vector<double> y(e.y() * m);
    each_product(e, m, [&](std::size_t i, std::size_t o, std::size_t k) { y[o] += double(x[i]) * w[k]; });
    for (const bool finite : {true, false}) {
        if (!finite) w[w.size() / 2] = INFINITY, w[w.size() - 1] = NAN;
        const buffer xb(x), wb(packed(w, KH * KW * CI, CO));
        for (int parts = 1; parts <= 5; parts += 2) {
            buffer yb(y.size());
            run<typename chosen::dense>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts);
            const auto dense = yb.values();
            yb.clear();
            run<typename chosen::type>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, m, parts, parts == 3);
            const auto lists = yb.values();
            if (finite) BOOST_TEST(error(lists, y, KH * KW * CI) < 1);
            BOOST_TEST(same(lists, dense));
        }
    }
}
BOOST_AUTO_TEST_CASE(windows) {
    check_windows<14, 14, 64, 7, 7, 128, 3, 3, 2, 0, 0>(3, 0);
    check_windows<13, 11, 128, 7, 6, 256, 3, 3, 2, 1, 1>(2, 0.1f);
    check_windows<21, 19, 64, 21, 19, 128, 5, 5, 1, 2, 2>(1, -0.1f);     // several blocks of rows
    check_windows<9, 9, 64, 5, 5, 128, 3, 3, 2, 1, 1>(4, -0.9f);         // few zeros
}

template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
void check_weight_gradient(int m, float above) {
    using chosen =
        nest<sinter::op::conv_weight_gradient, store_raw_and_walk<1>, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0>;
    static_assert(std::is_same_v<typename chosen::type, typename chosen::sparse>);
    using dense =
        typename nest<sinter::op::conv_weight_gradient, store_raw, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0>::any;
    const extents e{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL};
    const auto x = half_zero(e.x() * m, 1, above);
    auto dy = noise(e.y() * m, 2);
    std::vector<double> dw(e.w());
    each_product(e, m, [&](std::size_t i, std::size_t o, std::size_t k) { dw[k] += double(x[i]) * dy[o]; });
    for (const bool finite : {true, false}) {
        if (!finite) dy[dy.size() / 2] = INFINITY, dy[dy.size() - 1] = NAN;
        const buffer xb(x), db(dy);
        buffer wb(packed(std::vector<float>(e.w()), KH * KW * CI, CO).size());
        for (int parts = 1; parts <= 5; parts += 2) {
            run<dense>({xb.at.get(), db.at.get(), nullptr, wb.at.get()}, m, parts);
            const auto tiles = wb.values();
            wb.clear();
            run<typename chosen::type>({xb.at.get(), db.at.get(), nullptr, wb.at.get()}, m, parts, parts == 3);
            const auto lists = wb.values();
            if (finite) BOOST_TEST(error(unpacked(lists, KH * KW * CI, CO), dw, double(OH) * OW * m) < 1);
            if (finite) BOOST_TEST(same(lists, tiles));
            // Copied windows multiply the padding's zeros, too, which makes more NaN.
            run<typename chosen::in_place>({xb.at.get(), db.at.get(), nullptr, wb.at.get()}, m, parts);
            const auto in_place = wb.values();
            BOOST_TEST(std::equal(lists.begin(), lists.end(), in_place.begin(),
                                  [](float a, float b) { return std::isfinite(a) == std::isfinite(b); }));
        }
    }
}
BOOST_AUTO_TEST_CASE(pointwise_weight_gradients) {
    check_weight_gradient<10, 13, 64, 10, 13, 4 * panel_width, 1, 1, 1, 0, 0>(5, 0);       // sums by part
    check_weight_gradient<1, 75, 80, 1, 75, 8 * panel_width, 1, 1, 1, 0, 0>(3, 0.2f);
    check_weight_gradient<7, 7, 256, 7, 7, 256, 1, 1, 1, 0, 0>(4, 0);                      // all pixels at once
    check_weight_gradient<10, 10, 640, 10, 10, 512, 1, 1, 1, 0, 0>(2, 0.1f);               // several blocks of channels
    check_weight_gradient<1, 70, 64, 1, 70, 4 * panel_width, 1, 1, 1, 0, 0>(2, -0.9f);     // few zeros
    check_weight_gradient<3, 3, 64, 3, 3, 4 * panel_width, 1, 1, 1, 0, 0>(2, 0);           // few pixels
}
BOOST_AUTO_TEST_CASE(weight_gradients_of_windows) {
    check_weight_gradient<14, 14, 64, 7, 7, 128, 3, 3, 2, 0, 0>(3, 0);
    check_weight_gradient<13, 11, 96, 7, 6, 256, 3, 3, 2, 1, 1>(2, 0.1f);
    check_weight_gradient<9, 9, 320, 5, 5, 128, 3, 3, 2, 1, 1>(4, 0);                      // several blocks of channels
    check_weight_gradient<9, 11, 64, 9, 11, 128, 5, 5, 1, 2, 2>(1, -0.1f);
}
