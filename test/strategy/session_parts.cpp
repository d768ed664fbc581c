// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/strategy/elastic/accumulation_log.hpp>
#include <sinter/strategy/elastic/model_image.hpp>
#include <sinter/strategy/elastic/operation_log.hpp>
#include <sinter/strategy/elastic/undo_log.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <optional>
#include <thread>

#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// The parts of synchronous and elastic sessions, each by itself, without sockets.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

namespace {

constexpr auto net = features<5> >> dense<16> >> relu >> dense<3>;
template <class Optimizer>
using trainer_of = decltype(trainer{net, softmax_cross_entropy, Optimizer{}, max_batch<8>, thread_members<>{}});

/// A core of `shards` shards in this process alone.
template <class Optimizer>
struct alone {
    using programs = typename trainer_of<Optimizer>::programs;
    using core = strategy_parts::synchronous_core<programs, strategy_parts::other_processes::update_all>;
    using P0 = typename core::P0;
    core c;
    explicit alone(int shards) : c({.shards = shards, .workers = 1}, [](int) { return cpu_device::options{}; }, 1) {
        std::vector<float> x(static_cast<std::size_t>(P0::v.floats(space::parameter)));
        random_stream r(5);
        for (float& v : x) v = 0.1f * r.normal();
        c.values.write({space::parameter, 0}, x.data(), std::ssize(x));
    }
    std::vector<float> all(space s) const {
        std::vector<float> x(static_cast<std::size_t>(P0::v.floats(s)));
        c.values.read({s, 0}, x.data(), std::ssize(x));
        return x;
    }
    step_result step(int number) {
        const random_batch<typename trainer_of<Optimizer>::evaluation> b(static_cast<std::uint64_t>(number), 8);
        float scalars[P0::request::optimizer::n_scalars + 1] = {};
        Optimizer{}.scalars(number, scalars);
        return c.template step<0>(b.view(), {.scalars = scalars, .seed = 1, .step = number});
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(a_cut_batch_is_in_the_shards_of_all_members_once) {
    using strategy_parts::batch_cut;
    for (int size = 1; size < 40; ++size)
        for (const int members : {1, 2, 3, 5})
            for (const int own : {1, 2, 4}) {
                const int of = members * own;
                int next = 0;
                for (int m = 0; m < members; ++m) {
                    const batch_cut cut{size, m * own, of};
                    const example_range mine = cut.own(own);
                    BOOST_REQUIRE((mine.size == 0 || mine.first == next));
                    for (int i = 0; i < own; ++i) {
                        const example_range r = cut.shard(i);
                        BOOST_REQUIRE((r.first == next && r.size >= size / of && r.size <= (size + of - 1) / of));
                        next += r.size;
                    }
                    BOOST_REQUIRE((mine.first + mine.size == next || mine.size == 0));
                }
                BOOST_REQUIRE(next == size);
                BOOST_REQUIRE((batch_cut{size, of, of}.shard(0).size == 0));   // beyond the last
            }
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_on_one_member_is_so_for_all) {
    for (const bool finite : {true, false}) {
        std::vector<step_result> results(2);
        std::vector<char> applied(2);
        const auto group = std::make_shared<collective::thread_group>(2);
        const auto errors = as_members<>(2, [&](const thread_members<>& s) {
            alone<sgd> a(2);
            strategy_parts::synchronous_setup setup{.shards = 2, .members = group->take(s.rank)};
            strategy_parts::member_group<true> members(setup);
            strategy_parts::step_totals totals(a.c.replicas, members);
            for (int i = 0; i < 2; ++i) {
                a.c.replicas.shard(i) = {{0, 1}, {}};
                a.c.replicas.shard(i).loss = static_cast<float>(1 + 2 * s.rank + i);
                a.c.replicas.shard(i).finite = finite || s.rank == 0;
            }
            totals.begin_shared({.stop = s.rank == 1}, 4, 4);
            totals.start({}, false);
            totals.wait({});
            results[static_cast<std::size_t>(s.rank)] = totals.result();
            applied[static_cast<std::size_t>(s.rank)] = totals.applied();
        });
        for (const std::string& e : errors) BOOST_TEST(e == "");
        for (const step_result& r : results) {
            BOOST_TEST(r.loss == 10);
            BOOST_TEST(r.applied == finite);
            BOOST_TEST(r.stop);
            BOOST_TEST(r.examples == 4);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_was_written_since_an_operation_is_taken_back_and_written_again) {
    alone<adam> a(2);
    a.step(0);
    strategy_parts::undo_log log(a.c);
    const std::vector<float> one(20, 1.5f), two(40, -2.5f);   // addresses are of 16 floats each
    log.write({space::parameter, 0}, one.data(), 20);   // not remembered yet
    log.begin(true);
    const auto before = a.all(space::parameter), slots = a.all(space::slot);
    log.write({space::parameter, 16}, two.data(), 40);
    log.write({space::parameter, 32}, one.data(), 20);
    log.clear_slots();
    const auto after = a.all(space::parameter);
    BOOST_TEST(!same_bits(before, after));
    log.take_back();
    BOOST_TEST(same_bits(a.all(space::parameter), before));
    BOOST_TEST(same_bits(a.all(space::slot), slots));
    log.write_again();
    BOOST_TEST(same_bits(a.all(space::parameter), after));
    BOOST_TEST(same_bits(a.all(space::slot), std::vector<float>(slots.size())));
    log.begin(true);   // the next operation is over
    log.take_back();
    BOOST_TEST(same_bits(a.all(space::parameter), after));
}

BOOST_AUTO_TEST_CASE(a_model_is_what_its_image_was_made_of) {
    alone<adam> from(1), to(2);
    using image = strategy_parts::model_image<alone<adam>::core>;
    for (int i = 0; i < 3; ++i) from.step(i);
    const std::vector<std::byte> bytes = image::of(from.c);
    BOOST_TEST(bytes.size() == image::bytes());
    BOOST_TEST(image::put(to.c, bytes));
    for (const space s : {space::parameter, space::slot}) BOOST_TEST(same_bits(from.all(s), to.all(s)));
    BOOST_TEST(!image::put(to.c, std::vector<std::byte>(bytes.begin(), bytes.end() - 1)));
}

BOOST_AUTO_TEST_CASE(a_round_is_accumulated_again) {
    using optimizer = decltype(accumulate<3>(sgd{}));
    alone<optimizer> a(2);
    strategy_parts::accumulation_log log(a.c);
    using batch = random_batch<trainer_of<optimizer>::evaluation>;
    std::vector<std::unique_ptr<batch>> batches;
    float scalars[alone<optimizer>::P0::request::optimizer::n_scalars + 1] = {};
    optimizer{}.scalars(0, scalars);
    const auto step = [&](int n) {
        batches.push_back(std::make_unique<batch>(static_cast<std::uint64_t>(n), 8));
        const data::batch_view b = batches.back()->view();
        const step_values v{.scalars = scalars, .seed = 1, .step = n};
        log.begin_step(b, v);
        log.end_step(a.c.step<0>(b, v).applied);
    };
    BOOST_TEST(log.empty());
    step(0), step(1);
    BOOST_TEST(log.has_steps());
    const auto accumulated = a.all(space::slot), weights = a.all(space::parameter);
    for (int i = 0; i < 2; ++i) a.c.values.empty_round(i);
    BOOST_TEST(!same_bits(a.all(space::slot), accumulated));
    log.repeat();
    BOOST_TEST(same_bits(a.all(space::slot), accumulated));
    BOOST_TEST(same_bits(a.all(space::parameter), weights));
    step(2);   // which updates
    BOOST_TEST(log.empty());
    BOOST_TEST(!same_bits(a.all(space::parameter), weights));
}

BOOST_AUTO_TEST_CASE(an_operation_begins_again_with_what_it_was_given) {
    strategy_parts::operation_log log;
    std::byte x[] = {std::byte{1}, std::byte{2}, std::byte{3}};
    log.begin(span<const std::byte>(x, 3));
    x[1] = std::byte{9};
    log.restore({x, 3});
    BOOST_TEST(static_cast<int>(x[1]) == 2);
    BOOST_TEST(log.doing.bytes == 3);
    log.end();
    BOOST_TEST(log.done == 1);
    BOOST_TEST(log.did.bytes == 3);
}

/// What `f` throws; empty: nothing.
template <class F>
std::string error_of(F f) {
    try {
        f();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "";
}

/// What a barrier is for: members that fail after it have updated, or can.
BOOST_AUTO_TEST_CASE(a_step_counts_from_the_barrier_on) {
    strategy_parts::commit_barrier barrier, of_other;
    alone<sgd> a(1), other(1);
    std::vector<collective::ticket> tickets(8), tickets_of_other(8);
    collective::thread_group group(2);
    int updates = 0;
    std::string error;
    std::thread second([&] {
        error = error_of([&] { of_other.commit<0>(other.c.replicas, group.member(1), 0, tickets_of_other, [] {}); });
    });
    BOOST_TEST(!barrier.has_updated());
    BOOST_TEST(error_of([&] {
        barrier.commit<0>(a.c.replicas, group.member(0), 0, tickets, [&] { ++updates; });
    }) == "");
    second.join();
    BOOST_TEST(error == "");
    BOOST_TEST((barrier.has_updated() && of_other.has_updated()));
    barrier.end();
    // The other one hands on its sums, and is gone before the barrier.
    std::thread gone([&] {
        using P = alone<sgd>::P0;
        for (int k = 0; k < P::v.n_buckets; ++k)
            if (strategy_parts::of_program::in_parts<P>(k))
                tickets_of_other[static_cast<std::size_t>(k)] = group.member(1).start(
                    {.what = collective::kind::shift, .step = 1, .bucket = k},
                    other.c.replicas.place<0>(0, P::v.buckets[k].at), P::v.buckets[k].floats, true);
        for (int k = 0; k < P::v.n_buckets; ++k)
            if (strategy_parts::of_program::in_parts<P>(k))
                group.member(1).wait(tickets_of_other[static_cast<std::size_t>(k)]);
        group.member(1).fail("enough");
    });
    BOOST_TEST(error_of([&] {
        barrier.commit<0>(a.c.replicas, group.member(0), 1, tickets, [&] { ++updates; });
    }).find("enough") != std::string::npos);
    gone.join();
    BOOST_TEST(!barrier.has_updated());
    BOOST_TEST((barrier.stage() == strategy_parts::commit_stage::summed));
    barrier.follow();   // the others had updated
    BOOST_TEST(barrier.has_updated());
    BOOST_TEST(updates == 1);
}

/// Examples [first, first + size) of a batch of this net.
struct examples_of {
    data::input_view input, target;
    examples_of(data::batch_view& v, example_range r) : input(v.inputs[0]), target(v.targets[0]) {
        input.values += r.first * 5, target.indices += r.first;
        if (v.x) v.x = input.values;
        if (v.labels) v.labels = target.indices;
        v.inputs = {&input, 1}, v.targets = {&target, 1};
        v.whole = v.size, v.first = r.first, v.size = r.size;
    }
};
/// Members that are given the examples alone that they compute train like those that have all.
BOOST_AUTO_TEST_CASE(members_step_on_their_own_examples_of_a_batch) {
    std::vector<std::vector<float>> whole(3), own(3);
    for (const bool parts : {false, true}) {
        const auto errors = as_members<>(3, [&](const thread_members<>& s) {
            trainer t{net, softmax_cross_entropy, adam{}, max_batch<8>, s, {.threads = 1}};
            for (int i = 0; i < 4; ++i) {
                const random_batch<typename decltype(t)::evaluation> b(static_cast<std::uint64_t>(i), 7 - i);
                data::batch_view v = b.view();
                std::optional<examples_of> own_part;
                if (parts) own_part.emplace(v, t.session().own_examples(v.size));
                t.step(v);
            }
            (parts ? own : whole)[static_cast<std::size_t>(s.rank)] = all_variables(t);
            if (parts) {
                const random_batch<typename decltype(t)::evaluation> b(9, 7);
                data::batch_view v = b.view();
                const examples_of another(v, {s.rank == 0 ? 3 : 0, 2});
                BOOST_CHECK_EXCEPTION(t.step(v), option_error, [](const option_error& e) {
                    return std::string(e.what()).find("lacks what this member computes") != std::string::npos;
                });
            }
        });
        for (const std::string& e : errors) BOOST_TEST(e == "");
    }
    for (std::size_t r = 0; r < 3; ++r) BOOST_TEST(same_bits(whole[r], own[r]));
}
