// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>

#include "support/same_under_strategies.hpp"

// The residual example's net, narrower, under strategies. With synchronised_batch_norm it is
// trained as on one device. batch_norm takes its statistics from each half of a batch: then it is
// trained as on one device that computes on both halves, one after the other.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr window by_one{}, by_two{.stride = 2};
template <auto Norm, int Filters>
constexpr auto block = [](tensor x) {
    const tensor y = relu(Norm(conv2d<Filters, 3, by_one, bias::no>(x)));
    return relu(x + Norm(conv2d<Filters, 3, by_one, bias::no>(y)));
};
template <auto Norm, int Filters>
constexpr auto narrowing_block = [](tensor x) {
    const tensor y = relu(Norm(conv2d<Filters, 3, by_two, bias::no>(x)));
    const tensor passed = Norm(conv2d<Filters, 1, by_two, bias::no>(x));
    return relu(passed + Norm(conv2d<Filters, 3, by_one, bias::no>(y)));
};
template <auto Norm>
constexpr auto residual = image<12, 12, 1>
    >> conv2d<8, 3, by_two, bias::no> >> Norm >> relu
    >> block<Norm, 8> >> narrowing_block<Norm, 16> >> checkpoint(block<Norm, 16>)
    >> global_avg_pool >> dense<10>;

constexpr momentum optimizer{.learning_rate = 0.02f};

} // namespace

BOOST_AUTO_TEST_CASE(statistics_of_the_whole_batch) {
    check_under_strategies("synchronised",
                           trainers_of(residual<synchronised_batch_norm_with<0.9>>, softmax_cross_entropy, optimizer),
                           default_strategy{});
}
BOOST_AUTO_TEST_CASE(statistics_of_its_halves) {
    check_under_strategies("halves", trainers_of(residual<batch_norm_with<0.9>>, softmax_cross_entropy, optimizer),
                           canonical<2>());
}
