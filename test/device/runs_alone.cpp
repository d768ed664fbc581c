// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE device_runs_alone
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <sinter/sinter.hpp>

// Which programs the calling thread runs without the others of its team: those in which no kernel
// takes longer than waiting would.
using namespace sinter;

namespace {

constexpr auto policy = features<4> >> dense<64> >> relu >> dense<64> >> relu >> dense<2>;
constexpr auto wider = features<64> >> dense<256> >> relu >> dense<2>;
constexpr auto images = image<8, 8, 1> >> conv2d<4, 3> >> relu >> max_pool<2> >> flatten >> dense<2>;

template <const auto& Net, int Batch>
using trainer_of = trainer<std::remove_cvref_t<decltype(Net)>, softmax_cross_entropy_loss, adam, Batch>;
template <const auto& Net, int Batch>
constexpr int alone_to = cpu_runner<typename trainer_of<Net, Batch>::training>::alone_to;

} // namespace

BOOST_AUTO_TEST_CASE(only_what_is_tiny) {
    BOOST_TEST((alone_to<policy, 64> == 64));
    BOOST_TEST((alone_to<policy, 256> == 64));   // 64 x 64 x 64
    BOOST_TEST((alone_to<wider, 32> == 16));     // 64 x 256
    BOOST_TEST((alone_to<images, 2> == 0));
}

BOOST_AUTO_TEST_CASE(steps_are_the_same_bits_for_any_number_of_threads) {
    std::vector<float> x(32 * 4);
    std::vector<std::int32_t> labels(32);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 2);
    trainer_of<policy, 32> one({}, {.threads = 1}), four({}, {.threads = 4});
    for (int i = 0; i < 5; ++i) {
        const data::batch_view b{.x = x.data(), .labels = labels.data(), .size = 32};
        const float a = one.step(b), c = four.step(b);
        BOOST_TEST(a == c);
        BOOST_TEST(std::isfinite(a));
    }
}
