// SPDX-License-Identifier: BSL-1.0
// processors: 2
#include <boost/test/unit_test.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/train/losses/weighted.hpp>

#include "support/same_training.hpp"

#include <set>

// Shards that one thread computes one after the other work in one arena of activations.
using namespace sinter;
using namespace sinter::test;

namespace {
constexpr auto net = features<5> >> dense<16> >> batch_norm >> relu >> dropout<0.3> >> dense<3>;

/// How many arenas of activations the shards have.
template <class Trainer>
std::size_t arenas(Trainer& t) {
    std::set<const float*> places;
    for (const auto& replica : t.session().replicas()) places.insert(replica.host({compiler::space::activation, 0}));
    return places.size();
}
struct results {
    std::vector<float> variables, losses, outputs;
};
template <class Loss>
results trained(Loss loss, int threads, std::size_t wanted) {
    trainer t{net, loss, adam{.learning_rate = 0.01f}, max_batch<12>, canonical<4>(), {.threads = threads}};
    results r;
    for (const int batch : {12, 7, 2, 12}) {
        const random_batch<typename decltype(t)::evaluation> examples(0, batch);
        r.losses.push_back(t.step(examples.view()));
        const span<const float> all = t.output();
        BOOST_TEST(all.size() == static_cast<std::size_t>(3 * batch));
        r.outputs.insert(r.outputs.end(), all.begin(), all.end());
        t.session().each_part(examples.view(), [&](const auto& replica, const data::batch_view&) {   // its own
            const span<const float> own = replica.output(0);
            r.outputs.insert(r.outputs.end(), own.begin(), own.end());
        });
    }
    BOOST_TEST(arenas(t) == wanted);
    r.variables = all_variables(t);
    return r;
}
void check_same(const results& a, const results& b) {
    BOOST_TEST(same_bits(a.losses, b.losses));
    BOOST_TEST(same_bits(a.outputs, b.outputs));
    BOOST_TEST(same_bits(a.variables, b.variables));
}
} // namespace

BOOST_AUTO_TEST_CASE(one_arena_a_thread) {
    const results alone = trained(softmax_cross_entropy, 1, 1);
    check_same(alone, trained(softmax_cross_entropy, 2, 2));
    check_same(alone, trained(softmax_cross_entropy, 4, 4));
}
/// All shards stop in the midst of a step until what the loss is divided by is known.
BOOST_AUTO_TEST_CASE(shards_that_wait_for_each_other_have_their_own) {
    check_same(trained(weighted(softmax_cross_entropy), 1, 4), trained(weighted(softmax_cross_entropy), 4, 4));
}

/// A replica that only remembers in whose memory it works.
struct unit {
    static inline int made = 0;
    int memory = made++;
    void work_in_memory_of(unit* owner) { memory = owner ? owner->memory : made++; }
};
/// Members come and go (elastic), and threads get others' shards.
BOOST_AUTO_TEST_CASE(shards_that_are_dealt_out_anew) {
    std::vector<unit> units;
    strategy_parts::work_memory work;
    for (const auto& [shards, threads] :
         {std::pair{4, 1}, {4, 2}, {4, 4}, {8, 3}, {2, 1}, {2, 2}, {7, 2}, {1, 1}, {5, 3}}) {
        units.resize(static_cast<std::size_t>(shards));
        const int of_first = units[0].memory;
        work.share(units, threads);
        BOOST_TEST(units[0].memory == of_first);   // which evaluates and predicts there
        std::set<int> memories;
        for (int thread = 0; thread < threads; ++thread) {
            std::set<int> own;
            strategy_parts::thread_shards{shards, threads}.each(thread, [&](int i) {
                own.insert(units[static_cast<std::size_t>(i)].memory);
            });
            BOOST_TEST(own.size() == 1);
            memories.insert(own.begin(), own.end());
        }
        BOOST_TEST(memories.size() == static_cast<std::size_t>(threads));
    }
}
