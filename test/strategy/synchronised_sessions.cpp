// SPDX-License-Identifier: BSL-1.0
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// synchronised_batch_norm under strategies that divide the batch: what one device computes with batch_norm.
using namespace sinter;
using namespace sinter::test;

namespace {

template <auto Norm>
constexpr auto images = image<6, 6, 2> >> conv2d<4, 3> >> Norm >> relu >> conv2d<4, 3> >> Norm >> relu >> flatten
    >> dense<3>;
template <auto Norm>
constexpr auto numbers = features<6> >> dense<16> >> Norm >> relu >> dense<3>;
const std::vector<int> uneven{12, 7, 12, 3, 2, 11};   // also fewer examples than replicas
constexpr int steps = 12;

template <class Net, class Loss, class Optimizer, class Strategy>
std::vector<float> trained(Net n, Loss l, Optimizer o, Strategy s, int threads = 2) {
    trainer t{n, l, o, max_batch<12>, s, {.threads = threads}};
    train_on(t, steps, uneven);
    return all_variables(t);
}
template <auto Own, auto Global, class Loss, class Optimizer>
void as_single(Loss l, Optimizer o, const char* what) {
    trainer one{Own, l, o, max_batch<12>, {.threads = 1}};
    train_on(one, steps, uneven);
    const std::vector<float> wanted = all_variables(one);
    BOOST_TEST(same_bits(trained(Global, l, o, default_strategy{}), wanted), what << ": alone it is batch_norm");
    BOOST_TEST(furthest(trained(Global, l, o, mirrored<2>{}), wanted) < 2e-5, what << ", mirrored<2>");
    BOOST_TEST(furthest(trained(Global, l, o, mirrored<3>{}), wanted) < 2e-5, what << ", mirrored<3>");
    BOOST_TEST(same_bits(trained(Global, l, o, mirrored<3>{}, 1), trained(Global, l, o, mirrored<3>{}, 3)),
               what << ": threads");
    BOOST_TEST(furthest(trained(Own, l, o, mirrored<2>{}), wanted) > 1e-4,
               what << ": local statistics would do as well");
    for (const int members : {2, 3}) {
        std::vector<std::vector<float>> got(static_cast<std::size_t>(members));
        const auto errors = as_members(
            members, [&](const auto& s) { got[static_cast<std::size_t>(s.rank)] = trained(Global, l, o, s, 1); });
        for (std::size_t r = 0; r < got.size(); ++r) {
            BOOST_TEST(errors[r] == "");
            BOOST_TEST(furthest(got[r], wanted) < 2e-5, what << ", member " << r << " of " << members);
            BOOST_TEST(same_bits(got[r], got[0]), what << ": members differ");
        }
    }
}
template <auto Global, class Loss, class Optimizer>
void canonical_bits(Loss l, Optimizer o, const char* what) {
    const std::vector<float> wanted = trained(Global, l, o, canonical<4>());
    BOOST_TEST(same_bits(trained(Global, l, o, canonical<4>(mirrored<2>{})), wanted), what << ", mirrored<2>");
    BOOST_TEST(same_bits(trained(Global, l, o, canonical<4>(mirrored<4>{})), wanted), what << ", mirrored<4>");
    for (const int members : {2, 4}) {
        std::vector<std::vector<float>> got(static_cast<std::size_t>(members));
        const auto errors = as_members(members, [&](const auto& s) {
            got[static_cast<std::size_t>(s.rank)] = trained(Global, l, o, canonical<4>(s), 1);
        });
        for (std::size_t r = 0; r < got.size(); ++r) {
            BOOST_TEST(errors[r] == "");
            BOOST_TEST(same_bits(got[r], wanted), what << ", member " << r << " of " << members);
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(as_one_device) {
    as_single<images<batch_norm>, images<synchronised_batch_norm>>(softmax_cross_entropy,
                                                                   momentum{.learning_rate = 0.05f}, "images");
}
BOOST_AUTO_TEST_CASE(weights_of_examples_are_added_up_as_well) {
    as_single<numbers<batch_norm>, numbers<synchronised_batch_norm>>(weighted(mse), momentum{.learning_rate = 0.05f},
                                                                     "weighted");
}
BOOST_AUTO_TEST_CASE(accumulation) {
    as_single<numbers<batch_norm>,
              numbers<synchronised_batch_norm>>(mse, accumulate<2>(momentum{.learning_rate = 0.05f}), "accumulated");
}
BOOST_AUTO_TEST_CASE(bits_of_canonical) {
    canonical_bits<numbers<synchronised_batch_norm>>(mse, adam{}, "numbers");
}
/// Nobody waits for the sum of a shard whose loss is not finite, and nothing is changed.
BOOST_AUTO_TEST_CASE(a_step_that_is_not_finite) {
    trainer t{numbers<synchronised_batch_norm>, mse, adam{}, max_batch<12>, mirrored<3>{}, {.threads = 2}};
    train_on(t, 2, {12});
    const std::vector<float> before = all_variables(t);
    const random_batch<decltype(t)::training> b(5, 12);
    const_cast<float&>(b.view().inputs[0].values[11 * 6 + 3]) = NAN;
    BOOST_TEST(!std::isfinite(t.step(b.view())));
    BOOST_TEST(same_bits(all_variables(t), before));
    train_on(t, 1, {12});
    BOOST_TEST(!same_bits(all_variables(t), before));
}
