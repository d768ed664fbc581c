// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE strided
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/cpu/copy/strided.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;

namespace {
/// A box of even steps in a tensor, drawn at random: axes in any order, backwards, with gaps, small and large.
struct drawn_steps {
    std::int64_t e[16] = {}, size = 1, m = 1;
    drawn_steps() = default;
    explicit drawn_steps(std::mt19937& random) {
        const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
        const std::int64_t extents[] = {1, 1, 2, 3, 4, 5, 8, 15, 16, 17, 40, 130};
        int order[5] = {0, 1, 2, 3, 4};
        std::shuffle(order, order + 5, random);
        std::int64_t step = 1;
        for (int i : order) {
            const bool apart = below(4) == 0;
            e[i] = size * m > 2000 ? 1 + below(2) : extents[below(12)];
            const std::int64_t gap = apart ? 1 + below(3) : 1;
            e[5 + i] = step * gap;
            step *= e[i] * gap;
            size *= e[i];
            if (e[i] > 1 && below(4) == 0) {   // from the end
                e[strided::offset] += (e[i] - 1) * e[5 + i];
                e[5 + i] = -e[5 + i];
            }
        }
        m = 1 + below(3);
        e[strided::example] = step + below(2);
    }
    std::int64_t place(std::int64_t i) const {   ///< of element i in order
        std::int64_t at = e[strided::offset] + i / size * e[strided::example];
        i %= size;
        for (int a = 4; a >= 0; i /= e[a], --a) at += i % e[a] * e[5 + a];
        return at;
    }
};

template <class Kernel>
void run(const drawn_steps& s, float* from, float* to, int parts) {
    float* operands[] = {from, to};
    call c;
    c.p = operands;
    c.e = s.e;
    c.m = static_cast<int>(s.m);
    c.parts = parts;
    for (c.part = 0; c.part < parts; ++c.part) Kernel::run(c);
    for (c.part = 0; c.part < parts && Kernel::phases > 1; ++c.part) Kernel::finish(c);
}
}

BOOST_AUTO_TEST_CASE(to_order_and_back) {
    std::mt19937 random(7);
    for (int n = 0; n < 3000; ++n) {
        drawn_steps s(random);
        const std::int32_t fill_bits = 0x40490fdb;   // 3.1415927f
        s.e[strided::fill] = fill_bits;
        const auto there = static_cast<std::size_t>(s.m * s.e[strided::example]),
            all = static_cast<std::size_t>(s.m * s.size);
        std::vector<float> steps(there), in_order(all, -1.f), back(there, -1.f), wanted(there, 3.1415927f);
        for (std::size_t i = 0; i < there; ++i) steps[i] = static_cast<float>(i);
        const int parts = 1 + n % 3;
        run<cpu::strided_copy<false>>(s, steps.data(), in_order.data(), parts);
        run<cpu::strided_copy<true>>(s, in_order.data(), back.data(), parts);
        bool right = true;
        for (std::size_t i = 0; i < all; ++i) {
            const auto at = static_cast<std::size_t>(s.place(static_cast<std::int64_t>(i)));
            right = right && in_order[i] == steps[at];
            wanted[at] = steps[at];
        }
        BOOST_TEST_REQUIRE(right, "draw " << n);
        BOOST_TEST_REQUIRE((back == wanted), "draw " << n);
    }
}
BOOST_AUTO_TEST_CASE(an_element_repeated) {
    for (int n : {1, 15, 40}) {
        drawn_steps s;
        const std::int64_t e[] = {1, 1, 2, 7, n, 0, 0, 7, 1, 0};
        std::copy(e, e + 10, s.e);
        s.e[strided::example] = 14;
        s.m = 2;
        std::vector<float> from(28), to(static_cast<std::size_t>(28 * n));
        for (std::size_t i = 0; i < 28; ++i) from[i] = static_cast<float>(i);
        run<cpu::strided_copy<false>>(s, from.data(), to.data(), 2);
        for (std::size_t i = 0; i < to.size(); ++i) BOOST_TEST(to[i] == from[i / static_cast<std::size_t>(n)]);
    }
}
