// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/convolution.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>

#include "cuda/rehearsal.hpp"

// What libraries are told of their operands, and what a launch that fails says.
using namespace sinter;
using namespace sinter::compiler;

struct watching_engine : test::rehearsal_engine {
    static inline int aligned = 0, unaligned = 0, false_promises = 0;

    bool product(const gpu::product& p) {
        const gpu::product_key key = gpu::product_key::of(p);
        check(p.a, key.a);
        check(p.b, key.b);
        check(p.c, key.c);
        return false;
    }

private:
    static void check(const float* operand, int promised) {
        const auto address = reinterpret_cast<std::uintptr_t>(operand);
        if (address % static_cast<std::uintptr_t>(promised)) ++false_promises;
        ++(address % 64 ? unaligned : aligned);
    }
};

template <class Engine, class Net>
static void train(Net, int batch) {
    trainer<Net, softmax_cross_entropy_loss, sgd, 5, single<test::rehearsal_on<Engine>>> t(sgd{});
    const std::vector<float> x(5 * 20, 0.5f);
    const std::int32_t labels[5] = {};
    t.step({.x = x.data(), .labels = labels, .size = batch});
}
constexpr auto net = array<5, 4> >> lstm<6> >> flatten >> dense<10>;

// slices of 6 floats times an odd batch begin anywhere
BOOST_AUTO_TEST_CASE(no_alignment_is_promised_that_is_not_there) {
    train<watching_engine>(net, 5);
    train<watching_engine>(net, 3);
    BOOST_TEST(watching_engine::false_promises == 0);
    BOOST_TEST(watching_engine::unaligned > 0);
    BOOST_TEST(watching_engine::aligned > 0);
}
BOOST_AUTO_TEST_CASE(alignments) {
    BOOST_TEST(gpu::alignment_of(0x1000) == 64);
    BOOST_TEST(gpu::alignment_of(0x1030) == 16);
    BOOST_TEST(gpu::alignment_of(0x1038) == 4);
    BOOST_TEST(gpu::alignment_of(0x1004) == 4);
}
BOOST_AUTO_TEST_CASE(one_plan_for_operands_elsewhere_but_not_for_less_aligned_ones) {
    alignas(64) float memory[64];
    const gpu::product p{memory, memory + 16, memory + 32, 2, 2, 2, 2, 2, false, false};
    gpu::product elsewhere = p, unaligned = p, larger = p;
    std::swap(elsewhere.a, elsewhere.b);
    unaligned.b = memory + 17;
    larger.k = 3;
    BOOST_TEST((gpu::product_key::of(elsewhere) == gpu::product_key::of(p)));
    BOOST_TEST(!(gpu::product_key::of(unaligned) == gpu::product_key::of(p)));
    BOOST_TEST(!(gpu::product_key::of(larger) == gpu::product_key::of(p)));
}

struct failing_engine : test::rehearsal_engine {
    bool product(const gpu::product&) { throw device_error("refuses", "some call", "a fault", "none"); }
};
BOOST_AUTO_TEST_CASE(a_fault_names_its_launch) {
    BOOST_CHECK_EXCEPTION(train<failing_engine>(net, 5), device_error, [](const device_error& e) {
        const std::string where = e.where();
        return where.starts_with("launch ") && where.ends_with("some call") && e.fault() == "refuses" &&
            e.got() == "a fault";
    });
}

/// A library that convolves with padding as wide on both sides, as libraries do, and knows nothing
/// of what comes before.
struct padding_engine : test::rehearsal_engine {
    static inline int calls = 0, uneven = 0, with_margin = 0;

    bool can_convolve(const gpu::convolution&) { return true; }
    void convolve(const gpu::convolution& v) {
        ++calls;
        uneven += !v.pads_evenly();
        with_margin += v.KH % 2 == 0 || v.KW % 2 == 0;
        const auto part = [&](gpu::convolution_part p) { return v.part == p; };
        std::vector<double> to(static_cast<std::size_t>(part(gpu::convolution_part::results)
                                                        ? v.images * v.OH * v.OW * v.CO
                                                        : part(gpu::convolution_part::input_gradient)
                                                            ? v.images * v.H * v.W * v.CI
                                                            : std::int64_t{v.CO} * v.KH * v.KW * v.CI));
        for (std::int64_t n = 0; n < v.images; ++n)
            for (int oy = 0; oy < v.OH; ++oy)
                for (int ox = 0; ox < v.OW; ++ox)
                    for (int ky = 0; ky < v.KH; ++ky)
                        for (int kx = 0; kx < v.KW; ++kx) {
                            const int iy = oy * v.stride + ky - v.above, ix = ox * v.stride + kx - v.left;
                            if (iy < 0 || iy >= v.H || ix < 0 || ix >= v.W) continue;
                            for (int o = 0; o < v.CO; ++o)
                                for (int i = 0; i < v.CI; ++i) {
                                    const std::int64_t y = ((n * v.OH + oy) * v.OW + ox) * v.CO + o,
                                                       x = ((n * v.H + iy) * v.W + ix) * v.CI + i,
                                                       f = ((std::int64_t{o} * v.KH + ky) * v.KW + kx) * v.CI + i;
                                    if (part(gpu::convolution_part::results)) to[at(y)] += double{v.x[x]} * v.filter[f];
                                    else if (part(gpu::convolution_part::input_gradient))
                                        to[at(x)] += double{v.y[y]} * v.filter[f];
                                    else to[at(f)] += double{v.x[x]} * v.y[y];
                                }
                        }
        float* const out = part(gpu::convolution_part::results) ? v.y
            : part(gpu::convolution_part::input_gradient) ? v.x : v.filter;
        std::copy(to.begin(), to.end(), out);
    }

private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};
template <class Engine, class Net>
static std::vector<float> trained_convolutions(Net net, int pixels) {
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<3>, single<test::rehearsal_on<Engine>>{}};
    random_stream random(5);
    std::vector<float> x(static_cast<std::size_t>(3 * pixels));
    for (float& v : x) v = random.normal();
    const std::int32_t labels[3] = {1, 4, 2};
    for (int i = 0; i < 3; ++i) t.step({.x = x.data(), .labels = labels, .size = 3});
    std::vector<float> all;
    for (int i = 0; i < t.parameters(); ++i) {
        const auto p = t.plain(t.parameter(i));
        all.insert(all.end(), p.begin(), p.end());
    }
    return all;
}
template <class Net>
static void check_paddings(Net net, int pixels, int calls) {
    padding_engine::calls = padding_engine::with_margin = 0;
    const auto by_library = trained_convolutions<padding_engine>(net, pixels),
        by_element = trained_convolutions<test::rehearsal_engine>(net, pixels);
    BOOST_TEST(padding_engine::calls == 3 * calls);
    BOOST_TEST(padding_engine::uneven == 0);
    BOOST_TEST(padding_engine::with_margin > 0);
    BOOST_TEST_REQUIRE(by_library.size() == by_element.size());
    double worst = 0;
    for (std::size_t i = 0; i < by_library.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(by_library[i]) - by_element[i]));
    BOOST_TEST(worst < 2e-5);
}
BOOST_AUTO_TEST_CASE(a_margin_of_zeros_makes_padding_even) {
    constexpr window two{.stride = 2};
    check_paddings(image<11, 10, 2> >> conv2d<5, 4> >> activation::tanh >> conv2d<4, 3, two> >> flatten >> dense<10>,
                   220, 5);
    check_paddings(image<8, 12, 3> >> conv2d<4, 7, two> >> activation::tanh >> conv2d<3, 2> >> activation::tanh
                       >> conv2d<3, 5, window{.stride = 3}> >> flatten >> dense<10>, 288, 8);
}
BOOST_AUTO_TEST_CASE(width_of_margins) {   // image, taps, results, stride, padding in front
    const auto is = [](gpu::filter_margin m, int front, int behind) { return m.front == front && m.behind == behind; };
    BOOST_TEST(is(gpu::filter_margin::of(28, 5, 28, 1, 2), 0, 0));
    BOOST_TEST(is(gpu::filter_margin::of(224, 7, 112, 2, 2), 1, 0));   // ResNet's first: 2 in front, 3 behind
    BOOST_TEST(is(gpu::filter_margin::of(28, 2, 28, 1, 0), 1, 0));
    BOOST_TEST(is(gpu::filter_margin::of(28, 2, 28, 1, 1), 0, 1));
    BOOST_TEST(is(gpu::filter_margin::of(28, 3, 13, 2, 0), 0, 0));     // a row behind the last window is not seen
    for (int extent = 3; extent < 20; ++extent)
        for (int taps = 1; taps < 8; ++taps)
            for (int stride = 1; stride < 4; ++stride)
                for (int before = 0; before < taps; ++before)
                    for (int behind = 0; behind < taps; ++behind) {
                        if (extent + before + behind < taps) continue;
                        const int out = (extent + before + behind - taps) / stride + 1;
                        const auto m = gpu::filter_margin::of(extent, taps, out, stride, before);
                        const int got = (extent + 2 * (before + m.front) - (taps + m.front + m.behind)) / stride + 1;
                        BOOST_REQUIRE(got == out);
                    }
}
