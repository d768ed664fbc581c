// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/strategy/updated_parameters.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/max_norm.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/none.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/check_halves.hpp"

// Updates of a part of the weights, as by members that each update theirs: the bits of an update of
// all, and nothing else changes.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto mlp = features<12> >> named<"one">(dense<33>) >> relu >> named<"two">(dense<9>) >> relu
    >> named<"three">(dense<3>);
constexpr auto with_table = indices<3> >> embedding<40, 5> >> flatten >> dense<16> >> relu >> dense<3>;

template <class Net, class Optimizer, program_options O>
using program =
    halved_program<std::remove_cvref_t<Net>, std::remove_cvref_t<decltype(softmax_cross_entropy)>, Optimizer, 5, O>;
constexpr program_options in_buckets{.gradients = gradient_policy::reduced, .bucket_bytes = 512};

/// Part `part` of `parts` of a bucket, in whole lines; a table's is with the first.
gradient_range part_of(const gradient_bucket& b, int part, int parts) {
    if (b.parameter >= 0) return {b.at, part ? 0 : b.floats};
    const std::int64_t lines = b.floats / 16, first = lines * part / parts, end = lines * (part + 1) / parts;
    return {{b.at.where(), b.at.offset() + 16 * first}, 16 * (end - first)};
}
/// What lies in a program's parameters and slots, one after the other.
template <class P, class Halves>
std::vector<float> contents(const Halves& h) {
    std::vector<float> all(h.at({space::parameter, 0}), h.at({space::parameter, 0}) + P::v.z.trained);
    all.insert(all.end(), h.at({space::slot, 0}), h.at({space::slot, 0}) + P::v.floats(space::slot));
    return all;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

template <class Net, class Optimizer>
void in_parts(Net, Optimizer o, int parts, int threads, const char* what) {
    using P = program<Net, Optimizer, in_buckets>;
    trainer<Net, std::remove_cvref_t<decltype(softmax_cross_entropy)>, Optimizer, 5> first(o, {.threads = 1});
    half_steps<P, Optimizer> whole(first, o, 1), cut(first, o, threads);
    constexpr program_segments s = P::v.segments;
    BOOST_TEST((s.first_update <= s.first_sweep && s.first_sweep < P::v.n_launches), what);
    for (int step = 0; step < 4; ++step) {
        const random_batch<P> b(static_cast<std::uint64_t>(step));
        whole.step(b.view());
        BOOST_TEST(cut.gradients(b.view()), what);
        cut.now().ports = nullptr;
        cut.run({s.first_update, s.first_sweep});
        const std::vector<float> before = contents<P>(cut);
        std::vector<bool> mine(static_cast<std::size_t>(P::v.z.trained), false);
        for (int part = parts; part-- > 0;) {   // another order than that of memory
            for (int k = 0; k < P::v.n_buckets; ++k) {
                const gradient_range r = part_of(P::v.buckets[k], part, parts);
                const std::vector<float> then = contents<P>(cut);
                cut.now().updated = r;
                cut.run({s.first_sweep});
                const std::vector<float> now = contents<P>(cut);
                std::vector<bool> changes(static_cast<std::size_t>(P::v.z.trained), false);
                sinter::strategy_parts::for_each_updated<P>(r, [&](address a, std::int64_t floats) {
                    BOOST_TEST((a.where() == space::parameter && floats > 0));
                    for (std::int64_t i = 0; i < floats; ++i) changes[static_cast<std::size_t>(a.offset() + i)] = true;
                });
                for (std::size_t i = 0; i < now.size(); ++i) {
                    const std::size_t at = i % changes.size();
                    if (!changes[at] && std::memcmp(&now[i], &then[i], 4))
                        BOOST_FAIL(what << ": " << i << " was changed");
                    if (i == at && changes[at] && mine[at]) BOOST_FAIL(what << ": " << i << " is in two parts");
                }
                for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = mine[i] || changes[i];
            }
        }
        cut.now().updated = {};
        cut.end();
        BOOST_TEST(same(contents<P>(whole), contents<P>(cut)), what << ", step " << step);
        BOOST_TEST(std::count(mine.begin(), mine.end(), true) == P::v.z.trained, what);
        BOOST_TEST(((step + 1) % batches_of<Optimizer>() > 0) == same(before, contents<P>(cut)), what);
    }
    std::int64_t all = 0;
    sinter::strategy_parts::for_each_updated<P>({}, [&](address, std::int64_t floats) { all += floats; });
    BOOST_TEST(all == P::v.z.trained, what);
}
template <class Optimizer>
constexpr update_reach reach = program<decltype(mlp), Optimizer, in_buckets>::v.reach;

BOOST_AUTO_TEST_CASE(what_an_update_must_know) {
    BOOST_TEST((reach<sgd> == update_reach::own_gradient));
    BOOST_TEST((reach<moving_average<adam>> == update_reach::own_gradient));
    BOOST_TEST((reach<accumulated<2, adam>> == update_reach::own_gradient));
    BOOST_TEST((reach<clip_by_norm<adam>> == update_reach::all_gradients));
    BOOST_TEST((reach<clip_by_global_norm<adam>> == update_reach::all_gradients));
    BOOST_TEST((reach<accumulated<2, clip_by_global_norm<adam>>> == update_reach::all_gradients));
    BOOST_TEST((reach<lamb> == update_reach::whole_tensors));
    BOOST_TEST((reach<max_norm<sgd>> == update_reach::whole_tensors));
    BOOST_TEST((reach<clip_by_global_norm<lamb>> == update_reach::whole_tensors));
}
BOOST_AUTO_TEST_CASE(parts_of_sweeps) {
    in_parts(mlp, sgd{.learning_rate = 0.1f}, 2, 1, "sgd");
    in_parts(mlp, adam{}, 3, 2, "adam");
    in_parts(mlp, adam{}, 1, 1, "one part");
    in_parts(mlp, moving_average{0.9f, adam{}}, 7, 1, "moving average");
    in_parts(mlp, accumulate<2>(adam{}), 3, 1, "accumulated");
}
BOOST_AUTO_TEST_CASE(norms_of_gradients) {
    in_parts(mlp, clip_by_global_norm{0.2f, adam{}}, 3, 2, "clip_by_global_norm");
    in_parts(mlp, clip_by_norm{0.2f, adam{}}, 3, 1, "clip_by_norm");
    in_parts(mlp, accumulate<2>(clip_by_global_norm{0.2f, adam{}}), 2, 1, "accumulated, clipped");
}
BOOST_AUTO_TEST_CASE(tables) {
    in_parts(with_table, adam{}, 3, 2, "table");
    in_parts(with_table, accumulate<2>(adam{}), 2, 1, "table, accumulated");
    in_parts(with_table, clip_by_global_norm{0.2f, adam{}}, 2, 1, "table, clipped");
}

/// A program without updates makes the same gradients, for somebody else who updates.
template <class Net>
void without_updates(Net, gradient_policy policy, const char* what) {
    constexpr program_options stored{.gradients = gradient_policy::stored};
    const auto compare = [&]<class P, class Q>(std::type_identity<P>, std::type_identity<Q>) {
        BOOST_TEST(Q::v.slots == 0);
        BOOST_TEST(Q::v.floats(space::slot) == 0);
        BOOST_TEST(Q::v.segments.first_update == Q::v.n_launches);
        for (int i = 0; i < Q::v.n_launches; ++i) BOOST_TEST(Q::v.launches[i].root >= 0, what);
        BOOST_TEST(Q::v.n_buckets == P::v.n_buckets, what);
        BOOST_TEST(Q::v.n_lists == P::v.n_lists, what);
        trainer<Net, std::remove_cvref_t<decltype(softmax_cross_entropy)>, no_optimizer, 5> first({}, {.threads = 1});
        half_steps<P, sgd> with(first, {}, 1);
        half_steps<Q, no_optimizer> without(first, {}, 1);
        const random_batch<P> b(3);
        BOOST_TEST((with.gradients(b.view()) && without.gradients(b.view())));
        const auto floats = static_cast<std::size_t>(P::v.z.gradients);
        BOOST_TEST(Q::v.z.gradients == P::v.z.gradients);
        BOOST_TEST(std::memcmp(with.at({space::gradient, 0}), without.at({space::gradient, 0}), 4 * floats) == 0, what);
        BOOST_TEST(std::any_of(with.at({space::gradient, 0}), with.at({space::gradient, 0}) + floats,
                               [](float x) { return x != 0; }));
        without.update();
        BOOST_TEST(without.equals(first), what);
    };
    if (policy == gradient_policy::reduced)
        compare(std::type_identity<program<Net, sgd, in_buckets>>{},
                std::type_identity<program<Net, no_optimizer, in_buckets>>{});
    else
        compare(std::type_identity<program<Net, sgd, stored>>{},
                std::type_identity<program<Net, no_optimizer, stored>>{});
}
BOOST_AUTO_TEST_CASE(no_updates_here) {
    without_updates(mlp, gradient_policy::reduced, "mlp");
    without_updates(mlp, gradient_policy::stored, "mlp, stored");
    without_updates(with_table, gradient_policy::reduced, "table");
}

} // namespace
