// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE kernel_sort
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <sinter/kernel/cpu/rowwise/sort.hpp>

using namespace sinter;
using namespace sinter::runtime;

namespace {
/// Numbers of all sizes, ties, both zeros, infinities and NaN of both signs.
std::vector<float> drawn(std::size_t n, std::mt19937& random) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::infinity();
    const float odd[] = {0.f, -0.f, none, -none, most, -most, 1e-38f, -3.4e38f};
    std::vector<float> x(n);
    for (float& v : x) {
        const unsigned kind = random() % 4;
        if (kind == 0) v = odd[random() % 8];
        else if (kind == 1) v = static_cast<float>(static_cast<int>(random() % 21) - 10);
        else v = std::ldexp(static_cast<float>(random() % 2001) - 1000.f, static_cast<int>(random() % 40) - 20);
    }
    return x;
}

void check(int blocks, int n, int inner, int kept, bool descending, int parts, std::mt19937& random) {
    const auto at = [&](int block, int i, int j, int length) {
        return static_cast<std::size_t>((block * length + i) * inner + j);
    };
    std::vector<float> x = drawn(static_cast<std::size_t>(blocks * n * inner), random),
        y(static_cast<std::size_t>(blocks * kept * inner));
    std::vector<std::int32_t> places(y.size());
    float* p[] = {x.data(), reinterpret_cast<float*>(places.data()), y.data()};
    const std::int64_t e[] = {n, inner, kept, descending};
    std::vector<float> scratch(static_cast<std::size_t>(cpu::sorting::scratch(e, parts, blocks)));
    call c;
    c.p = p;
    c.e = e;
    c.scratch = scratch.data();
    c.m = blocks;
    c.parts = parts;
    for (c.part = 0; c.part < parts; ++c.part) cpu::sorting::run(c);
    std::vector<int> order(static_cast<std::size_t>(n));
    for (int block = 0; block < blocks; ++block)
        for (int j = 0; j < inner; ++j) {
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
                const float u = x[at(block, a, j, n)], v = x[at(block, b, j, n)];
                if (u != u || v != v) return descending ? u != u && v == v : u == u && v != v;
                return descending ? u > v : u < v;
            });
            for (int i = 0; i < kept; ++i) {
                const std::size_t to = at(block, i, j, kept);
                BOOST_TEST_REQUIRE(places[to] == order[static_cast<std::size_t>(i)],
                                   n << " of " << inner << ", place " << i);
                const float want = x[at(block, places[to], j, n)];
                BOOST_TEST_REQUIRE((y[to] == want || (y[to] != y[to] && want != want)));
            }
        }
}
} // namespace

BOOST_AUTO_TEST_CASE(as_the_standard_library_sorts) {
    std::mt19937 random(3);
    for (int n : {1, 2, 31, 32, 33, 100, 257, 5000})
        for (int inner : {1, 3})
            for (bool descending : {false, true})
                for (int parts : {1, 3}) {
                    check(2, n, inner, n, descending, parts, random);
                    check(2, n, inner, (n + 2) / 3, descending, parts, random);
                }
}
