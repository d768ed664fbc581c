// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE winograd
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/winograd/winograd_weight_gradient.hpp>

#include <array>

#include "conv_reference.hpp"

using namespace conv_test;
using namespace sinter::cpu;

/// A kernel that is told its extents at run time, in `parts`, the parts of each phase in the given direction.
template <class Kernel>
void run_told(std::vector<float*> p, const std::int64_t (&e)[8], int m, int parts, bool backwards) {
    scratch space(Kernel::scratch(e, parts, m));
    sinter::runtime::call c;
    c.p = p.data();
    c.e = e;
    c.m = c.batch = m;
    c.scratch = space.at.get();
    c.parts = parts;
    std::vector<void (*)(const sinter::runtime::call&)> phases{Kernel::prepare, Kernel::run};
    if constexpr (requires { &Kernel::finish; }) phases.push_back(Kernel::finish);
    for (const auto phase : phases)
        for (int i = 0; i < parts; ++i) {
            c.part = backwards ? parts - 1 - i : i;
            phase(c);
        }
}

/// Root mean square of the difference over that of the reference.
double relative_error(const std::vector<float>& got, const std::vector<double>& want) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        difference += (got[i] - want[i]) * (got[i] - want[i]);
        size += want[i] * want[i];
    }
    return std::sqrt(difference / size);
}

template <int M, int K>
constexpr double most_error = M + K - 1 == 4 ? 1e-6 : 6e-6;

/// Results from any number of parts; whatever the order in which they run, the same bits, and
/// `sums` of none but other parts.
template <class Kernel, int M, int K>
void check_parts(std::vector<float*> p, buffer& result, const std::int64_t (&e)[8], int m,
                 const std::vector<double>& want,
                 bool sums, const std::function<std::vector<float>(std::vector<float>)>& read) {
    std::vector<float> one;
    for (int parts : {1, 2, 8}) {
        result.clear();
        run_told<Kernel>(p, e, m, parts, false);
        const auto got = result.values();
        BOOST_TEST(relative_error(read(got), want) < (most_error<M, K>));
        if (parts == 1) one = got;
        if (!sums) BOOST_TEST((got == one));
        result.clear();
        run_told<Kernel>(p, e, m, parts, true);
        BOOST_TEST((result.values() == got));
    }
}

/// [taps][from][to] -> packed, taps reversed and channels exchanged: what conv_transpose_weights gives.
std::vector<float> exchanged(const std::vector<float>& w, int taps, int from, int to) {
    std::vector<float> t(w.size());
    for (int k = 0; k < taps; ++k)
        for (int i = 0; i < from; ++i)
            for (int o = 0; o < to; ++o) t[((taps - 1 - k) * to + o) * from + i] = w[(k * from + i) * to + o];
    return packed(t, taps * to, from);
}

template <int M, int K = 3>
void check(int H, int W, int CI, int OH, int OW, int CO, int PT, int PL, int m) {
    const extents x{H, W, CI, OH, OW, CO, K, K, 1, PT, PL};
    BOOST_TEST_CONTEXT("F(" << M << ", " << K << "): " << H << 'x' << W << 'x' << CI << " -> " << OH << 'x' << OW
                            << 'x' << CO << ", padding " << PT << ' ' << PL << ", " << m << " images") {
        const auto in = noise(x.x() * m, 1), d = noise(x.y() * m, 2), w = noise(x.w(), 3);
        std::vector<double> y(d.size()), dx(in.size()), dw(w.size());
        each_product(x, m, [&](std::size_t i, std::size_t o, std::size_t k) {
            y[o] += double(in[i]) * w[k];
            dx[i] += double(d[o]) * w[k];
            dw[k] += double(in[i]) * d[o];
        });
        const buffer xb(in), db(d), wb(packed(w, K * K * CI, CO)), tb(exchanged(w, K * K, CI, CO));
        buffer yb(y.size()), dxb(dx.size()), dwb(wb.n);
        const auto as_it_is = [](std::vector<float> v) { return v; };
        using kernel = winograd_convolution<M, K, store_raw>;
        check_parts<kernel, M, K>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, yb, {H, W, CI, OH, OW, CO, PT, PL},
                                  m, y, false,
                               as_it_is);
        if (CO % lanes == 0)
            check_parts<kernel, M, K>({db.at.get(), tb.at.get(), nullptr, dxb.at.get()}, dxb,
                                   {OH, OW, CO, H, W, CI, K - 1 - PT, K - 1 - PL}, m, dx, false, as_it_is);
        const auto plain = [&](std::vector<float> v) {
            BOOST_TEST((packed(unpacked(v, K * K * CI, CO), K * K * CI, CO) == v));   // padding is zero
            return unpacked(v, K * K * CI, CO);
        };
        check_parts<winograd_weight_gradient<M, K, store_raw>, M, K>({xb.at.get(), db.at.get(), nullptr, dwb.at.get()},
                                                                     dwb,
                                                             {H, W, CI, OH, OW, CO, PT, PL}, m, dw, true, plain);
    }
}

/// Pooled values and winners against pooling what the kernel without a pool computes: the same bits.
template <int M, int K, int P>
void check_pooled() {
    for (const auto& [H, W, CO, m] :
         {std::array{8, 10, 32, 3}, std::array{7, 5, 21, 2}, std::array{30, 30, 16, 4}, std::array{13, 15, 40, 1}})
        BOOST_TEST_CONTEXT("F(" << M << ", " << K << ") in windows of " << P << ": " << H << 'x' << W << 'x' << CO
                                << ", " << m << " images") {
            const int CI = 16, PH = H / P, PW = W / P;
            const auto x = noise(std::size_t(m * H * W * CI), 1), w = noise(std::size_t(K * K * CI * CO), 3);
            const buffer xb(x), wb(packed(w, K * K * CI, CO));
            buffer yb(std::size_t(m * H * W * CO)), pb(std::size_t(m * PH * PW * CO));
            const std::int64_t e[] = {H, W, CI, H, W, CO, K / 2, K / 2};
            run_told<winograd_convolution<M, K, store_raw>>({xb.at.get(), wb.at.get(), nullptr, yb.at.get()}, e, m,
                                                            8, false);
            for (int parts : {1, 8}) {
                std::vector<std::uint8_t> won(pb.n + 64, 255);
                pb.clear();
                run_told<winograd_convolution<M, K, store_raw, P>>(
                    {xb.at.get(), wb.at.get(), reinterpret_cast<float*>(won.data()), pb.at.get()}, e, m, parts,
                    parts > 1);
                int wrong = 0;
                for (int i = 0; i < m * PH * PW * CO; ++i) {
                    const int o = i % CO, px = i / CO % PW, py = i / CO / PW % PH, image = i / CO / PW / PH;
                    float best = -INFINITY;
                    int place = 0;
                    for (int q = 0; q < P * P; ++q) {
                        const float v =
                            yb.at[std::size_t(((image * H + P * py + q / P) * W + P * px + q % P) * CO + o)];
                        if (v > best) best = v, place = q;
                    }
                    wrong += pb.at[std::size_t(i)] != best || won[std::size_t(i)] != place;
                }
                BOOST_TEST(wrong == 0);
                // nothing beside them
                BOOST_TEST(std::count(won.begin() + std::ptrdiff_t(pb.n), won.end(), 255) == 64);
                pb.clear();   // nobody wants the winners
                run_told<winograd_convolution<M, K, store_raw, P>>({xb.at.get(), wb.at.get(), nullptr, pb.at.get()}, e,
                                                                   m, parts, false);
                BOOST_TEST(std::isfinite(pb.at[0]));
            }
        }
}
BOOST_AUTO_TEST_CASE(pooled) {
    check_pooled<2, 3, 2>();
    check_pooled<4, 3, 2>();
    check_pooled<4, 3, 4>();
    check_pooled<2, 5, 2>();
}

/// How often a max-pool of 2 x 2 picks another place than of sums in double precision: only where
/// the two are as close as the errors.
BOOST_AUTO_TEST_CASE(winners) {
    const int H = 16, CI = 256, CO = 64, m = 4;
    const extents x{H, H, CI, H, H, CO, 3, 3, 1, 1, 1};
    const auto in = noise(x.x() * m, 1), w = noise(x.w(), 3);
    std::vector<double> y(x.y() * m);
    each_product(x, m, [&](std::size_t i, std::size_t o, std::size_t k) { y[o] += double(in[i]) * w[k]; });
    const buffer xb(in), wb(packed(w, 9 * CI, CO));
    buffer pb(y.size() / 4);
    std::vector<std::uint8_t> won(pb.n);
    double size = 0;
    for (const double v : y) size += v * v / double(y.size());
    const auto others = [&](auto convolution) {
        run_told<decltype(convolution)>({xb.at.get(), wb.at.get(), reinterpret_cast<float*>(won.data()), pb.at.get()},
                                        {H, H, CI, H, H, CO, 1, 1}, m, 8, false);
        int found = 0;
        for (std::size_t i = 0; i < won.size(); ++i) {
            // rows of all images follow each other
            const std::size_t o = i % CO, px = i / CO % (H / 2), py = i / CO / (H / 2);
            const auto at = [&](int q) { return y[((2 * py + q / 2) * H + 2 * px + q % 2) * CO + o]; };
            const double best = std::max({at(0), at(1), at(2), at(3)});
            found += at(won[i]) != best;
            BOOST_REQUIRE(best - at(won[i]) <= 1e-4 * std::sqrt(size));
        }
        BOOST_TEST_MESSAGE("other winners: " << found << " of " << won.size());
        return found;
    };
    BOOST_TEST(others(winograd_convolution<2, 3, store_raw, 2>{}) <= 2);
    BOOST_TEST(others(winograd_convolution<4, 3, store_raw, 2>{}) <= 2);
}
BOOST_AUTO_TEST_CASE(same_padding) {
    check<4>(12, 12, 32, 12, 12, 48, 1, 1, 2);
    check<2>(12, 12, 32, 12, 12, 48, 1, 1, 2);
    check<4>(7, 9, 96, 7, 9, 32, 1, 1, 5);    // more channels than a block holds
    check<2>(7, 9, 96, 7, 9, 32, 1, 1, 1);
}
BOOST_AUTO_TEST_CASE(other_padding) {
    check<4>(9, 8, 16, 7, 6, 16, 0, 0, 3);
    check<2>(9, 8, 16, 7, 6, 16, 0, 0, 3);
    check<4>(5, 6, 16, 7, 8, 16, 2, 2, 2);
    check<4>(6, 6, 16, 5, 6, 16, 0, 1, 2);
    check<2>(3, 3, 16, 1, 1, 16, 0, 0, 1);    // one output
    check<4>(1, 1, 16, 1, 1, 32, 1, 1, 2);    // all but one tap outside
}
BOOST_AUTO_TEST_CASE(any_number_of_outputs) {
    check<4>(6, 6, 16, 6, 6, 5, 1, 1, 2);
    check<4>(6, 6, 16, 6, 6, 40, 1, 1, 2);
    check<2>(6, 6, 16, 6, 6, 19, 1, 1, 2);
}
BOOST_AUTO_TEST_CASE(many_tiles) {   // parts that transform their own patches, in several blocks
    check<4>(48, 48, 16, 48, 48, 16, 1, 1, 4);
    check<2>(44, 44, 16, 44, 44, 16, 1, 1, 2);
}
// shared ones that fit no second-level cache, and windows that are kept beside fewer tiles
BOOST_AUTO_TEST_CASE(far_patches) {
    check<4>(32, 32, 64, 32, 32, 64, 1, 1, 4);
}
BOOST_AUTO_TEST_CASE(windows_of_five) {
    check<2, 5>(12, 12, 32, 12, 12, 48, 2, 2, 2);
    check<2, 5>(7, 9, 96, 7, 9, 32, 2, 2, 5);     // more channels than a block holds
    check<2, 5>(9, 8, 16, 5, 4, 16, 0, 0, 3);
    check<2, 5>(5, 6, 16, 9, 10, 16, 4, 4, 2);
    check<2, 5>(6, 6, 16, 5, 6, 16, 1, 3, 2);
    check<2, 5>(5, 5, 16, 1, 1, 16, 0, 0, 1);     // one output
    check<2, 5>(1, 1, 16, 1, 1, 32, 2, 2, 2);     // all but one tap outside
    check<2, 5>(6, 6, 16, 6, 6, 19, 2, 2, 2);
    check<2, 5>(28, 28, 16, 28, 28, 16, 2, 2, 3);   // parts that transform their own patches, in several blocks
}
