// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/central_storage.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>

#include "cuda/rehearsal.hpp"
#include "support/same_training.hpp"

// Replicas with memory of their own, whose programs are planned for CUDA, train as one device does.
// Gradients of tables are lists of rows (where steps are accumulated: a slot): the rows that occur
// in any replica's part of the batch are updated, no others.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto words = indices<4> >> embedding<60, 5> >> flatten >> dense<16> >> relu >> dense<3>;
/// One table is read twice, one has rows of three numbers.
constexpr auto two_tables = indices<5> >> [](tensor x) {
    const tensor once = parameter(x, "once", extents(40, 3), normal_of(0.5f)),
        twice = parameter(x, "twice", extents(25, 6), normal_of(0.5f));
    const tensor a = ops::gather_rows(once, x), few = ops::slice(x, 0, 0, 2);
    return ops::concat({ops::reshape(a, extents(15)), ops::reshape(ops::gather_rows(twice, few), extents(12)),
                        ops::reshape(ops::gather_rows(twice, ops::slice(x, 0, 3, 2)), extents(12))});
} >> dense<3>;
template <auto Norm>
constexpr auto numbers = features<6> >> dense<16> >> Norm >> relu >> dense<3>;
const std::vector<int> uneven{12, 7, 12, 1, 2, 11};

template <int N, class Net, class Loss, class Optimizer>
void as_single(Net n, Loss l, Optimizer o, const char* what) {
    trainer one{n, l, o, max_batch<12>, single<rehearsal_device>{}};
    trainer many{n, l, o, max_batch<12>, mirrored<N, rehearsal_device>{}, {.threads = 2}};
    trainer peers{n, l, o, max_batch<12>, mirrored<N, rehearsal_peer>{}, {.threads = 2}};
    trainer later{n, l, o, max_batch<12>, mirrored<N, rehearsal_later<rehearsal_device>>{}, {.threads = 2}};
    trainer later_peers{n, l, o, max_batch<12>, mirrored<N, rehearsal_later<rehearsal_peer>>{}, {.threads = 2}};
    const std::vector<float> before = all_variables(one);
    train_on(one, 8, uneven);
    const std::vector<float> losses = train_on(many, 8, uneven);
    BOOST_TEST(same_bits(train_on(peers, 8, uneven), losses), what << ", sums by the devices");
    BOOST_TEST(same_bits(all_variables(peers), all_variables(many)), what << ", sums by the devices");
    BOOST_TEST(same_bits(train_on(later, 8, uneven), losses), what << ", while devices are at work");
    BOOST_TEST(same_bits(all_variables(later), all_variables(many)), what << ", while devices are at work");
    BOOST_TEST(same_bits(train_on(later_peers, 8, uneven), losses), what << ", sums by the devices at work");
    BOOST_TEST(same_bits(all_variables(later_peers), all_variables(many)), what << ", sums by the devices at work");
    const std::vector<float> wanted = all_variables(one), got = all_variables(many);
    BOOST_TEST(furthest(got, wanted) < 2e-5, what);
    BOOST_TEST(furthest(before, wanted) > 1e-3, what);
    for (std::size_t i = 0; i < before.size(); ++i)
        if (wanted[i] == before[i]) BOOST_TEST(got[i] == before[i], what << ": a number that rests on one device");
}

/// The same bits, however many replicas there are.
template <class Net, class Optimizer>
void in_one_order(Net n, Optimizer o, const char* what) {
    const auto trained = [&](auto strategy) {
        trainer t{n, mse, o, max_batch<12>, canonical<4>(strategy), {.threads = 2}};
        train_on(t, 8, uneven);
        return all_variables(t);
    };
    const std::vector<float> one = trained(single<rehearsal_device>{});
    BOOST_TEST(same_bits(trained(mirrored<2, rehearsal_device>{}), one), what);
    BOOST_TEST(same_bits(trained(mirrored<4, rehearsal_peer>{}), one), what);
    BOOST_TEST(same_bits(trained(central_storage<2, rehearsal_peer>{}), one), what);
}
constexpr adam steady{.learning_rate = 0.01f, .epsilon = 1e-3f};
constexpr momentum rolling{.learning_rate = 0.1f};

/// Sums that are exact have one device's bits, whatever the replicas.
constexpr auto exact = indices<2> >> [](tensor x) {
    const tensor table = parameter(x, "table", extents(30, 4), zeros);
    return ops::sum(ops::gather_rows(table, x), {0});
};
template <class Strategy>
std::vector<float> trained_exactly(Strategy s) {
    trainer t{exact, mse, momentum{.learning_rate = 0.5f, .momentum_rate = 0.5f}, max_batch<16>, s, {.threads = 2}};
    for (int step = 0; step < 3; ++step) {
        const random_batch<typename decltype(t)::evaluation> b(static_cast<std::uint64_t>(step), 16);
        float* const y = const_cast<float*>(b.view().targets[0].values);
        for (int i = 0; i < 64; ++i) y[i] = std::round(y[i] * 8) / 4;
        t.step(b.view());
    }
    return all_variables(t);
}

} // namespace

BOOST_AUTO_TEST_CASE(gradients_of_tables_are_lists) {
    using two = decltype(trainer{two_tables, mse, adam{}, max_batch<12>, mirrored<2, rehearsal_device>{}});
    using gathered =
        decltype(trainer{two_tables, mse, accumulate<2>(adam{}), max_batch<12>, mirrored<2, rehearsal_device>{}});
    static_assert(two::training::v.n_lists == 2 && gathered::training::v.n_lists == 0);
}
BOOST_AUTO_TEST_CASE(bits_of_one_device) {
    const std::vector<float> one = trained_exactly(single<rehearsal_device>{});
    BOOST_TEST(same_bits(trained_exactly(single<cpu_device>{}), one));
    BOOST_TEST(same_bits(trained_exactly(mirrored<2, rehearsal_device>{}), one));
    BOOST_TEST(same_bits(trained_exactly(mirrored<4, rehearsal_peer>{}), one));
    BOOST_TEST(same_bits(trained_exactly(canonical<8>(mirrored<2, rehearsal_peer>{})), one));
    BOOST_TEST(furthest(one, std::vector<float>(one.size())) > 0.1);
}
BOOST_AUTO_TEST_CASE(one_order_of_sums) {
    in_one_order(two_tables, steady, "adam");
    in_one_order(two_tables, clip_by_global_norm{0.05f, rolling}, "all clipped");
    in_one_order(two_tables, clip_by_norm{0.02f, rolling}, "each clipped");
    in_one_order(two_tables, accumulate<2>(rolling), "accumulated");
}
BOOST_AUTO_TEST_CASE(tables) {
    as_single<3>(two_tables, mse, steady, "two tables");
    as_single<2>(two_tables, mse, clip_by_norm{0.02f, rolling}, "two tables, each clipped");
    as_single<3>(words, mse, adam{.learning_rate = 0.01f, .epsilon = 1e-3f}, "words");
    as_single<2>(words, mse, clip_by_global_norm{0.1f, momentum{.learning_rate = 0.1f}}, "words, clipped");
    as_single<2>(words, mse, accumulate<2>(momentum{.learning_rate = 0.1f}), "words, accumulated");
}
BOOST_AUTO_TEST_CASE(statistics_of_the_whole_batch) {
    trainer one{numbers<batch_norm>, mse, momentum{.learning_rate = 0.05f}, max_batch<12>, single<rehearsal_device>{}};
    trainer many{numbers<synchronised_batch_norm>, mse, momentum{.learning_rate = 0.05f}, max_batch<12>,
                 mirrored<3, rehearsal_device>{}};
    train_on(one, 8, {12, 7, 2});
    train_on(many, 8, {12, 7, 2});
    BOOST_TEST(furthest(all_variables(many), all_variables(one)) < 2e-5);
}
