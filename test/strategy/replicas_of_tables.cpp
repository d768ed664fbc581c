// SPDX-License-Identifier: BSL-1.0
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/embedding_bag.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <sinter/train/losses/detail/candidates.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/none.hpp>

#include "support/check_halves.hpp"
#include "support/half_members.hpp"
#include "support/table_nets.hpp"

// Several members train a net with tables, each on a part of the batch: lists of rows are joined in
// memory of their own, which has more rows than a member's. All end with the same bits, and where
// one device ends that has the whole batch.
using namespace sinter;
using namespace sinter::test;

namespace {

using table_nets::rows, table_nets::tables, table_nets::columns;
// what is looked up also weighs the outputs
constexpr auto tied = indices<2> >> [](tensor x) {
    const tensor table = parameter(x, "table", extents(rows, 6), normal_of(0.5f));
    return ops::matmul(ops::sum(ops::gather_rows(table, x), {0}), table, transposed::no, transposed::yes);
};

/// The mean squared error, of whose gradient by a table the loss's value reads something; its own
/// gradient does not notice.
struct reads_gradient {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor y, tensor t) const {
        const tensor v = mse_loss{}(y, t), all = ops::over_global_batch(detail::sum_of_all(v));
        const tensor d = ops::gradient(all, detail::only_parameter(y.g, "once"));
        return v + ops::stop_gradient(detail::sum_of_all(d * d));
    }
};

/// `Lists`: how many gradients of tables are lists, of how many tables a slot gathers rows.
template <int Lists, int Gathered = 0, int Batch = 12, class Net, class Loss, class Optimizer, class PlainLoss = Loss>
void train(Net, Loss, Optimizer o, const char* what, PlainLoss = {}, double most = 2e-5) {
    using P = halved_program<Net, Loss, Optimizer, Batch,
                             program_options{.gradients = gradient_policy::reduced, .bucket_bytes = 256}>;
    BOOST_TEST(P::v.n_lists == Lists, what);
    int gathered = 0;
    for (int i = 0; i < P::v.n_buckets; ++i) gathered += P::v.buckets[i].parameter >= 0 && !P::v.buckets[i].is_list();
    BOOST_TEST(gathered == Gathered, what);
    trainer<Net, PlainLoss, Optimizer, Batch> one(o, {.threads = 1});
    half_members<P, Optimizer> two(2, one, o), three(3, one, o, runtime::row_order::tree);
    for (int step = 0; step < 6; ++step) {
        const random_batch<P> b(static_cast<std::uint64_t>(step), step % 3 == 2 ? Batch - 2 : Batch);
        one.step(b.view());
        two.step(b.view());
        three.step(b.view());
    }
    BOOST_TEST(two[0].equals(two[1]), what);
    BOOST_TEST((three[0].equals(three[1]) && three[0].equals(three[2])), what);
    BOOST_TEST(two[0].difference(one) < most, what);
    BOOST_TEST(three[0].difference(one) < most, what);
    if (P::v.n_lists || Gathered) {   // rows that never occurred are where they were, slots too
        const trainer<Net, PlainLoss, Optimizer, Batch> fresh(o, {.threads = 1});
        int rested = 0;
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const auto before = fresh.plain(fresh.parameter(i)), after = one.plain(one.parameter(i)),
                mine = two[0].plain(P::v.parameters[i]);
            for (std::size_t k = 0; k < before.size(); ++k) {
                if (after[k] != before[k]) continue;
                ++rested;
                BOOST_TEST(mine[k] == before[k], what);
            }
        }
        BOOST_TEST_MESSAGE(what << ": " << rested << " numbers rested");
    }
}
constexpr adam steady{.learning_rate = 0.05f, .epsilon = 1e-2f};   // else what is nearly 0 moves as far as what is not
constexpr momentum rolling{.learning_rate = 0.1f};

BOOST_AUTO_TEST_CASE(several_lookups_and_bags) {
    train<3>(tables, mse, rolling, "momentum");
    train<3>(tables, mse, steady, "adam");
}
BOOST_AUTO_TEST_CASE(unique_rows_of_tables) { train<1, 0, 48>(columns, mse, steady, "columns"); }
BOOST_AUTO_TEST_CASE(norms) {
    train<3>(tables, mse, clip_by_norm{0.05f, rolling}, "clip_by_norm");
    train<3>(tables, mse, clip_by_global_norm{0.05f, steady}, "clip_by_global_norm");
    train<0>(tables, mse, lamb{.learning_rate = 0.05f, .epsilon = 1e-2f}, "lamb");
}
BOOST_AUTO_TEST_CASE(accumulation) {
    train<0, 3>(tables, mse, accumulate<2>(steady), "accumulated");
    train<0, 3>(tables, mse, accumulate<3>(clip_by_global_norm{0.05f, rolling}), "accumulated, clipped");
}
BOOST_AUTO_TEST_CASE(a_tied_table_is_whole) { train<0>(tied, softmax_cross_entropy, steady, "tied"); }
BOOST_AUTO_TEST_CASE(the_gradient_is_read_by_the_net) {
    train<3>(tables, reads_gradient{}, steady, "read", mse);
    train<0, 3>(tables, reads_gradient{}, accumulate<2>(steady), "read, accumulated", mse);
}
/// Classes drawn by each shard are its own: members agree with each other.
BOOST_AUTO_TEST_CASE(sampled_classes) {
    constexpr auto net = indices<2> >> embedding<30, 6> >> flatten >> dense<6> >> candidate_scores<50>;
    using loss = std::remove_cvref_t<decltype(sampled_softmax<50, 7>)>;
    using P = halved_program<std::remove_cvref_t<decltype(net)>, loss, adam, 12,
                             program_options{.gradients = gradient_policy::reduced}>;
    trainer<std::remove_cvref_t<decltype(net)>, loss, adam, 12> one(steady, {.threads = 1});
    half_members<P, adam> three(3, one, steady);
    double before = 0, after = 0;
    for (int step = 0; step < 60; ++step) {
        const random_batch<P> b(static_cast<std::uint64_t>(step % 2), 12);
        three.step(b.view());
        one.step(b.view());
        (step < 6 ? before : after) += step < 6 || step > 53
            ? static_cast<double>(*three[0].at(P::v.loss) + *three[1].at(P::v.loss) + *three[2].at(P::v.loss)) : 0;
    }
    BOOST_TEST((three[0].equals(three[1]) && three[0].equals(three[2])));
    BOOST_TEST(after < before * 0.8);
}
/// Inputs, weights and rates of which all sums are exact: the bits of one device, whatever the
/// number of members and the order.
constexpr auto exact = indices<2> >> [](tensor x) {
    const tensor table = parameter(x, "table", extents(rows, 4), zeros), bias = parameter(x, "bias", extents(4), zeros);
    return ops::sum(ops::gather_rows(table, x), {0}) + bias;
};
BOOST_AUTO_TEST_CASE(bits_of_one_device) {
    constexpr momentum o{.learning_rate = 0.5f, .momentum_rate = 0.5f};
    using net = std::remove_cvref_t<decltype(exact)>;
    using P = halved_program<net, mse_loss, momentum, 16, program_options{.gradients = gradient_policy::reduced}>;
    trainer<net, mse_loss, momentum, 16> one(o, {.threads = 1});
    for (int n = 1; n <= 8; n *= 2) {
        one.reset();
        half_members<P, momentum> all(n, one, o, n % 4 ? runtime::row_order::ranks : runtime::row_order::tree);
        for (int step = 0; step < 3; ++step) {
            random_batch<P> b(static_cast<std::uint64_t>(step), 16);
            float* const t = const_cast<float*>(b.view().targets[0].values);
            for (int i = 0; i < 64; ++i) t[i] = std::round(t[i] * 8) / 4;
            one.step(b.view());
            all.step(b.view());
        }
        BOOST_TEST(all[0].equals(one), n << " members");
    }
    BOOST_TEST(one.plain(one.parameter(0)) != std::vector<float>(rows * 4));
}
/// A list that was handed in is read in that run alone.
BOOST_AUTO_TEST_CASE(without_lists_updates_read_the_own_ones) {
    using P = halved_program<std::remove_cvref_t<decltype(tables)>, mse_loss, momentum, 12,
                             program_options{.gradients = gradient_policy::reduced}>;
    trainer<std::remove_cvref_t<decltype(tables)>, mse_loss, momentum, 12> one(rolling, {.threads = 1});
    half_members<P, momentum> all(2, one, rolling);
    half_steps<P, momentum> alone(one, rolling, 1);
    const random_batch<P> a(1), b(2);
    all.step(a.view());
    alone.step(a.view());
    BOOST_TEST(all[0].difference(alone) < 1e-5);
    all[0].step(b.view());
    alone.step(b.view());
    BOOST_TEST(all[0].difference(alone) < 1e-5);
    BOOST_TEST(all[0].difference(all[1]) > 1e-3);
}
/// Threads that share an update read the lists that place_lists() named, and the program's own where it named none.
BOOST_AUTO_TEST_CASE(threads_share_updates) {
    using P = halved_program<std::remove_cvref_t<decltype(tables)>, mse_loss, adam, 12,
                             program_options{.gradients = gradient_policy::reduced}>;
    trainer<std::remove_cvref_t<decltype(tables)>, mse_loss, adam, 12> one(steady, {.threads = 1});
    half_members<P, adam> runs(2, one, steady), shares(2, one, steady);
    half_steps<P, adam> own(one, steady, 1), alone(one, steady, 1);
    const auto share = [](auto& m) {
        team workers(3);
        step_arguments now = m.now();
        now.launches = {P::v.segments.first_update};
        workers.run([&](int thread) { m.runner().run_share(workers, thread, now); });
        m.end();
    };
    for (int step = 0; step < 3; ++step) {
        const random_batch<P> b(static_cast<std::uint64_t>(step));
        runs.step(b.view());
        shares.gradients(b.view());
        for (int i = 0; i < 2; ++i) {
            shares[i].runner().place_lists(shares.lists());
            share(shares[i]);
        }
        own.step(b.view());
        BOOST_TEST(alone.gradients(b.view()));
        share(alone);
    }
    BOOST_TEST(shares[0].equals(runs[0]));
    BOOST_TEST(shares[1].equals(runs[0]));
    BOOST_TEST(alone.equals(own));
}

} // namespace
