// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE shard_random_numbers
#include <boost/test/unit_test.hpp>

#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

#include <array>

#include "cuda/rehearsal.hpp"
#include "support/on_shard.hpp"

/// What a shard of a global batch draws, by every kind of kernel on both devices: element i of a
/// random tensor is word i of the stream that the seed, the step and the shard choose, whatever
/// other shards hold. The generator is written down here once more.
using namespace sinter;

namespace {

using words = std::array<std::uint32_t, 4>;

/// Philox4x32-10 as its authors' reference counts: multiply, exchange the halves, add the key's rounds.
words philox(words x, std::array<std::uint32_t, 2> key) {
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v & 0xffffffffu); };
    for (std::uint64_t round = 0; round < 10; ++round) {
        const std::uint64_t p = x[0] * 0xD2511F53ull, q = x[2] * 0xCD9E8D57ull;
        const std::uint32_t k0 = low(key[0] + round * 0x9E3779B9ull), k1 = low(key[1] + round * 0xBB67AE85ull);
        x = {low(q >> 32) ^ x[1] ^ k0, low(q), low(p >> 32) ^ x[3] ^ k1, low(p)};
    }
    return x;
}
std::array<std::uint32_t, 2> halves(std::uint64_t v) {
    return {static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v >> 32)};
}
// the first two words of that block of the seed's own stream
std::uint64_t key_of(std::uint64_t seed, std::uint64_t number) {
    const words w = philox({halves(number)[0], halves(number)[1], 0, 0}, halves(seed));
    return w[0] + (std::uint64_t{w[1]} << 32);
}
std::uint64_t shard_of(std::uint64_t seed, std::uint64_t shard) {
    std::uint64_t name = 0;
    for (const char c : {'s', 'h', 'a', 'r', 'd'}) name = name * 256 + static_cast<unsigned char>(c);
    return shard ? key_of(key_of(seed, name), shard) : seed;
}
/// Number `i` of stream `stream` in [0, 1).
float drawn(std::uint64_t seed, std::uint64_t shard, std::uint64_t step, int stream, std::uint64_t i,
            std::uint64_t iteration = 0) {
    const std::uint32_t low = static_cast<std::uint32_t>(step << 16) + static_cast<std::uint32_t>(stream);
    const std::uint32_t high = static_cast<std::uint32_t>(step >> 16) + static_cast<std::uint32_t>(iteration << 16);
    const words w = philox({halves(i / 4)[0], halves(i / 4)[1], low, high}, halves(shard_of(seed, shard)));
    return static_cast<float>(w[i % 4] / 256) / 16777216.f;
}

constexpr std::uint64_t seeds[] = {1, 0x123456789abcdefu}, shards[] = {0, 1, 2, 7, 0x100000003u};

/// What the net gives in a training step, whose update does nothing.
template <class Device, program_options O, class Net>
std::vector<float> outputs_of(Net, std::uint64_t seed, std::uint64_t shard, std::int64_t step, int batch, int width) {
    trainer<Net, decltype(mse), sgd, build_options{40, O},
            single<test::on_shard<Device>>> t(sgd{.learning_rate = 0.f}, {.threads = 1, .seed = seed});
    const std::vector<float> x(static_cast<std::size_t>(40 * width), 1.f);
    test::current_shard = {.index = shard, .global_batch = 100};
    t.set_steps(step);
    t.step({.x = x.data(), .y = x.data(), .size = batch});
    const auto y = t.output();
    return {y.begin(), y.end()};
}
/// `want(seed, shard, step, element)`.
template <class Device, program_options O, class Net, class Want>
void check_on(const char* what, Net net, int width, Want want) {
    for (const std::uint64_t seed : seeds)
        for (const std::uint64_t shard : shards)
            for (const std::int64_t step : {0, 70'000}) {
                const int batch = shard % 2 ? 40 : 7;
                const std::vector<float> y = outputs_of<Device, O>(net, seed, shard, step, batch, width);
                BOOST_REQUIRE(y.size() % static_cast<std::size_t>(batch) == 0);
                std::size_t wrong = 0;
                while (wrong < y.size() && y[wrong] == want(seed, shard, static_cast<std::uint64_t>(step), wrong))
                    ++wrong;
                BOOST_TEST(wrong == y.size(), what << ", seed " << seed << ", shard " << shard << ", step " << step
                           << ": element " << wrong);
            }
}
template <class Net, class Want>
void check(const char* what, Net net, int width, Want want) {
    check_on<cpu_device, program_options{}>(what, net, width, want);
    check_on<cpu_device, program_options{.fuse = false}>(what, net, width, want);
    check_on<test::rehearsal_device, program_options{}>(what, net, width, want);
}

constexpr tensor trained(tensor y) { return y * parameter(y, "one", extents(), ones); }
constexpr tensor number_of(tensor x, const shape& s) { return make<op::random_uniform>(x.g, s, {}, {++x.g->streams}); }

} // namespace

BOOST_AUTO_TEST_CASE(the_reference_is_philox) {   // Random123's known answers
    BOOST_TEST((philox({}, {}) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    BOOST_TEST((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}
BOOST_AUTO_TEST_CASE(elements) {
    const auto element = [](auto seed, auto shard, auto step, auto i) { return drawn(seed, shard, step, 1, i); };
    check("elements", array<7> >> [](tensor x) { return trained(ops::random_uniform(x)); }, 7, element);
    check("elements of wide rows", array<70> >> [](tensor x) { return trained(ops::random_uniform(x)); }, 70, element);
    check("a number an example", array<6> >> [](tensor x) { return trained(x * number_of(x, batch_of(1))); }, 6,
          [](auto seed, auto shard, auto step, auto i) { return drawn(seed, shard, step, 1, i / 6); });
    check("one number", array<6> >> [](tensor x) { return trained(x * number_of(x, extents(1))); }, 6,
          [](auto seed, auto shard, auto step, auto) { return drawn(seed, shard, step, 1, 0); });
    check("the second stream",
          array<7> >> [](tensor x) { return trained(ops::random_uniform(x) * 0.f + ops::random_uniform(x)); }, 7,
          [](auto seed, auto shard, auto step, auto i) { return drawn(seed, shard, step, 2, i); });
}
BOOST_AUTO_TEST_CASE(masks_of_dropout) {
    check("dropout", array<9> >> dropout<0.25f> >> [](tensor x) { return trained(x); }, 9,
          [](auto seed, auto shard, auto step, auto i) {
              return drawn(seed, shard, step, 1, i) < 0.75f ? 1 / 0.75f : 0.f;
          });
}
BOOST_AUTO_TEST_CASE(iterations_of_a_loop) {
    check("a loop", array<3, 5> >> [](tensor x) {
        return trained(ops::scan([](bundle c, bundle in) { return scan_step{c, ops::random_uniform(in[0])}; },
                                 ops::slice(ops::reshape(x, extents(15)), 0, 0, 1), x).outputs[0]);
    }, 15, [](auto seed, auto shard, auto step, auto i) {
        // [example][iteration][5], each iteration's tensor [example][5]
        return drawn(seed, shard, step, 1, i / 15 * 5 + i % 5, i % 15 / 5);
    });
}
/// Scores are equal and value j is the j-th unit vector: query i's result is what dropout makes of its probabilities.
BOOST_AUTO_TEST_CASE(dropped_probabilities_of_attention) {
    check("attention", array<8, 8> >> [](tensor x) {
        return trained(ops::attention(x * 0.f, x * 0.f, x * ops::eye(x, 8, 8), {.dropout = 0.5f}));
    }, 64,
    [](auto seed, auto shard, auto step, auto i) { return drawn(seed, shard, step, 1, i) < 0.5f ? 2.f / 8 : 0.f; });
}
BOOST_AUTO_TEST_CASE(shard_0_is_an_undivided_batch) {
    constexpr auto net = array<7> >> [](tensor x) { return trained(ops::random_normal(x)); };
    const auto one = outputs_of<cpu_device, program_options{}>(net, 5, 0, 3, 40, 7);
    trainer<decltype(net), decltype(mse), sgd, 40> t(sgd{.learning_rate = 0.f}, {.threads = 1, .seed = 5});
    const std::vector<float> x(40 * 7, 1.f);
    t.set_steps(3);
    t.step({.x = x.data(), .y = x.data(), .size = 40});
    const auto y = t.output();
    BOOST_TEST(one == std::vector<float>(y.begin(), y.end()), boost::test_tools::per_element());
    BOOST_TEST((one != outputs_of<cpu_device, program_options{}>(net, 5, 1, 3, 40, 7)));
}
