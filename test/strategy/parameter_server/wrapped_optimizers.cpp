// SPDX-License-Identifier: BSL-1.0
// shows servers: every optimizer on three servers has a trainer's bits
// weighs: 3
// also: sse2
// once: servers call these optimizers as those of every_optimizer.cpp, which is sanitized
// Optimizers around others on three servers, groups of parameters, tables by rows: the bits of a trainer's updates.
#define BOOST_TEST_MODULE wrapped_optimizers
#include <boost/test/unit_test.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/alternating.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/optimizers/decoupled_decay.hpp>
#include <sinter/train/optimizers/ftrl.hpp>
#include <sinter/train/optimizers/l1_penalty.hpp>
#include <sinter/train/optimizers/l2_penalty.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/max_norm.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/nadam.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/optimizers/updated_elsewhere.hpp>

#include "support/check_shards.hpp"
#include "support/table_nets.hpp"

using namespace sinter;
using namespace sinter::test;

namespace {
/// The second layer's weights are more than one part of a sum.
constexpr auto net = features<12> >> named<"one">(dense<33>) >> relu >> named<"two">(dense<290>) >> relu
    >> named<"three">(dense<3>);
constexpr auto groups =
    parameter_groups{adam{.learning_rate = 0.01f}, group_of<"two/*", "*/bias">(momentum{.learning_rate = 0.1f})};
constexpr auto some_frozen =
    parameter_groups{adagrad{}, group_of<"three/*">(sgd{.learning_rate = 0.1f}), frozen<"two/*">};

template <class Optimizer>
void balanced(Optimizer, double most) {
    using P = shards_program<decltype(net), Optimizer>;
    for (const int servers : {2, 3, 5}) {
        const parameter_servers::dense_placement p =
            parameter_servers::place(sinter::strategy_parts::blocks_of<P, Optimizer>(), servers);
        std::int64_t largest = 0, all = 0;
        for (const std::int64_t n : p.floats) largest = std::max(largest, n), all += n;
        BOOST_TEST(static_cast<double>(largest) * servers <= most * static_cast<double>(all));
        std::int64_t parameters = 0;
        for (int i = 0; i < P::v.n_parameters; ++i) parameters += round_up(P::v.parameters[i].floats, 16);
        BOOST_TEST(all == parameters);
    }
}
} // namespace

BOOST_AUTO_TEST_CASE(norms) {
    for (const bool on_servers : {false, true}) {
        check_shards(net, clip_by_global_norm{0.02f, adam{}}, "clip_by_global_norm",
                     parameter_servers::row_partition::mod, on_servers);
        check_shards(net, clip_by_global_norm{0.02f, groups}, "clip_by_global_norm of groups",
                     parameter_servers::row_partition::mod, on_servers);
        check_shards(net, clip_by_global_norm{0.02f, lamb{}}, "clip_by_global_norm of lamb",
                     parameter_servers::row_partition::mod, on_servers);
    }
    check_shards(net, clip_by_norm{0.02f, adam{}}, "clip_by_norm");
    check_shards(net, lamb{.weight_decay = 0.01f}, "lamb");
    check_shards(net, max_norm{1.f, sgd{.learning_rate = 0.1f}}, "max_norm");
    check_shards(net, max_norm{1.f, clip_by_norm{0.02f, nadam{}}}, "max_norm of clip_by_norm");
}
BOOST_AUTO_TEST_CASE(wrappers) {
    check_shards(net, clip_by_value{0.001f, adam{}}, "clip_by_value");
    check_shards(net, l1_penalty{0.05f, sgd{.learning_rate = 0.2f}}, "l1_penalty");
    check_shards(net, l2_penalty{0.05f, sgd{.learning_rate = 0.2f}}, "l2_penalty");
    check_shards(net, decoupled_decay{0.01f, nadam{}}, "decoupled_decay");
    check_shards(net, moving_average{0.9f, adam{}}, "moving_average");
    check_shards(net, moving_average{0.9f, clip_by_global_norm{0.02f, some_frozen}},
                 "moving_average of clipped groups");
}
BOOST_AUTO_TEST_CASE(groups_of_parameters) {
    check_shards(net, groups, "parameter_groups");
    check_shards(net, some_frozen, "frozen");
}

// Each phase updates its own group by its own steps' number; the others rest.
BOOST_AUTO_TEST_CASE(phases_that_alternate) {
    using all = decltype(alternating{phase<"one/*", "two/*">(softmax_cross_entropy, adam{}),
                                     phase<"three/*">(softmax_cross_entropy, sgd{})});
    all::groups groups_of_phases{};
    using first_phase = phase_optimizer<all, 0>;
    using second_phase = phase_optimizer<all, 1>;
    using P = shards_program<decltype(net), first_phase>;
    using Q = shards_program<decltype(net), second_phase>;
    trainer<decltype(net), shards_loss, no_optimizer, 5> first({}, {.threads = 1});
    auto h = with_first_slots<P>(first, first_phase{groups_of_phases});
    auto k = with_first_slots<Q>(first, second_phase{groups_of_phases});
    shards<P, first_phase> one(h, first_phase{groups_of_phases}, 3);
    shards<Q, second_phase> two(k, second_phase{groups_of_phases}, 3);
    for (std::int64_t step = 0; step < 3; ++step) {
        const random_batch<P> b(static_cast<std::uint64_t>(step));
        BOOST_TEST((h.gradients(b.view()) && k.gradients(b.view())));
        one.step(h, step, [](int group) { return first_phase::trains(group); });
        two.step(k, step, [](int group) { return second_phase::trains(group); });
        h.update();
        k.update();
        BOOST_TEST(one.differences(h) == 0);
        BOOST_TEST(two.differences(k) == 0);
    }
}

// A worker's program has the groups and, of each parameter, the place that a trainer's has.
BOOST_AUTO_TEST_CASE(a_workers_program_lies_as_a_trainers) {
    using optimizer = std::remove_cvref_t<decltype(some_frozen)>;
    using P = shards_program<decltype(net), optimizer>;
    using W = shards_program<decltype(net), updated_elsewhere<optimizer>>;
    const auto a = strategy_parts::blocks_of<P, optimizer>(), b = strategy_parts::blocks_of<W, optimizer>();
    BOOST_TEST(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        BOOST_TEST((a[i].parameter == b[i].parameter && a[i].gradient == b[i].gradient && a[i].floats == b[i].floats &&
                    a[i].group == b[i].group && a[i].bucket == b[i].bucket && a[i].tensor == b[i].tensor));
    balanced(adam{}, 1.1);
    balanced(some_frozen, 1.1);
    balanced(clip_by_global_norm{1.f, adam{}}, 1.1);
}

BOOST_AUTO_TEST_CASE(tables_by_rows) {
    constexpr auto lookups = table_nets::tables >> dense<3>;
    BOOST_TEST((shards_program<decltype(lookups), adam>::v.n_lists == 3));
    constexpr auto lamb_but_for_tables = parameter_groups{lamb{}, group_of<"once", "twice", "bag">(adagrad{})};
    for (const auto how : {parameter_servers::row_partition::mod, parameter_servers::row_partition::div}) {
        check_shards(lookups, sgd{.learning_rate = 0.1f}, "tables, sgd", how);
        check_shards(lookups, adam{}, "tables, adam", how);
        check_shards(lookups, moving_average{0.9f, ftrl{}}, "tables, moving average", how);
        check_shards(lookups, clip_by_global_norm{0.02f, adam{}}, "tables, clipped", how);
        check_shards(lookups, lamb_but_for_tables, "tables, lamb but for them", how);
    }
}
