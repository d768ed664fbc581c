// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE plan
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/parameter.hpp>
#include <random>

#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/ops/exp.hpp>

#include "compiler/invariants.hpp"

/// The memory plan, and the list of holes that it is made with. (Random graphs: random_graphs.cpp.)
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(holes_are_reused_and_merged) {
    hole_list h;
    const auto a = h.take(32), b = h.take(16), c = h.take(48);
    BOOST_TEST(h.top() == 96);
    h.give(a, 32);
    BOOST_TEST(h.take(16) == 0);
    BOOST_TEST(h.take(16) == 16);
    h.give(0, 16);
    h.give(b, 16);
    h.give(16, 16);   // closes the gap between two holes
    BOOST_TEST(h.take(48) == 0);
    h.give(c, 48);
    BOOST_TEST(h.take(64) == 48);   // a hole at the top grows
    BOOST_TEST(h.top() == 112);
}
BOOST_AUTO_TEST_CASE(holes_against_a_map_of_every_place) {
    for (unsigned seed = 1; seed <= 20; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
        std::mt19937 random(seed);
        hole_list h;
        struct piece { std::int64_t at, size; };
        std::vector<piece> taken;
        std::vector<bool> used(100'000, false);
        std::int64_t top = 0;
        for (int i = 0; i < 400; ++i) {
            if (taken.empty() || random() % 5 < 3) {
                const std::int64_t size = 16 * (1 + static_cast<std::int64_t>(random() % 20)), at = h.take(size);
                bool free = true;
                for (std::int64_t k = at; k < at + size; ++k)
                    free = free && !used[static_cast<std::size_t>(k)], used[static_cast<std::size_t>(k)] = true;
                BOOST_TEST(free);
                taken.push_back({at, size});
                top = std::max(top, at + size);
            } else {
                const std::size_t k = random() % taken.size();
                h.give(taken[k].at, taken[k].size);
                for (std::int64_t j = 0; j < taken[k].size; ++j)
                    used[static_cast<std::size_t>(taken[k].at + j)] = false;
                taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(k));
            }
        }
        BOOST_TEST(h.top() == top);
        for (const piece& p : taken) h.give(p.at, p.size);
        BOOST_TEST(h.take(top) == 0);   // all one hole again
    }
}

struct small {
    passes p;
    graph& g = p.g;
    choices c;
    tensor x = input(g, batch_of(6));
    void plan(std::initializer_list<tensor> outputs) {
        for (const tensor& t : outputs) g.outputs.push(t.id);
        p.all(c);
        check_groups(p);
        check_plan(p, c);
    }
    address at(tensor t) { return p.p.at[base_of(g.n, t.id)]; }
    tensor product(tensor a, const char* name) { return ops::matmul(a, weights(x, name, extents(6, 6), zeros)); }
};

BOOST_AUTO_TEST_CASE(a_long_chain_needs_two_buffers) {
    for (bool backwards : {false, true}) {
        small s;
        s.c.backwards = backwards;
        tensor y = s.x;
        const char* const names[] = {"a", "b", "c", "d", "e", "f"};
        for (const char* n : names) y = ops::tanh(s.product(y, n));
        s.plan({y});
        BOOST_TEST(s.p.p.z.activations == 2 * round_up(6 * s.c.max_batch, 16));
        BOOST_TEST(s.p.p.z.unshared == 6 * round_up(6 * s.c.max_batch, 16));
    }
}
/// Of the two ways to place activations a program takes the one that needs less.
BOOST_AUTO_TEST_CASE(the_smaller_plan_is_taken) {
    constexpr auto net = image<28, 28, 1> >> conv2d<32, 3> >> relu >> conv2d<64, 3> >> relu >> max_pool<2>
        >> conv2d<16, 3> >> relu >> flatten >> dense<128> >> relu >> dense<10>;
    using R = request<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, program_mode::training, 256,
                      target{16, 8}, program_options{}>;
    const std::int64_t forwards = sinter::detail::planned_stage<R, false>::v.z.activations,
        backwards = sinter::detail::planned_stage<R, true>::v.z.activations;
    BOOST_TEST(forwards != backwards);
    BOOST_TEST(compiled<R>::v.z.activations == std::min(forwards, backwards));
    const std::int64_t most = compiled<R>::v.z.alive;   // what is alive at one time is what it needs at least
    BOOST_TEST(compiled<R>::v.z.activations >= most);
    BOOST_TEST(compiled<R>::v.z.activations < most * 11 / 10);
}
BOOST_AUTO_TEST_CASE(training_keeps_what_backward_reads) {
    small s;
    tensor y = s.x;
    const char* const names[] = {"a", "b", "c", "d"};
    for (const char* n : names) y = ops::tanh(s.product(y, n));
    s.g.loss = ops::over_batch(ops::sum(ops::sum(y * y, {-1}), {batch_axis})).id;
    s.plan({});
    BOOST_TEST(s.p.p.z.activations >= 4 * round_up(6 * s.c.max_batch, 16));
    BOOST_TEST(s.p.p.z.activations < s.p.p.z.unshared);
}
BOOST_AUTO_TEST_CASE(parameters_packed_ones_first_on_64_bytes) {
    small s;
    s.c.target.lanes = 16;
    const tensor b = parameter(s.x, "b", extents(6), zeros), w = weights(s.x, "w", extents(6, 6), zeros);
    s.plan({ops::matmul(s.x, w) + b});
    BOOST_TEST(s.at(w).offset() == 0);
    BOOST_TEST(s.at(b).offset() == 6 * 16);   // rows padded to 16 columns
    BOOST_TEST(s.p.p.z.first_plain == 6 * 16);
    BOOST_TEST(s.p.p.z.parameters == 6 * 16 + 16);
}
BOOST_AUTO_TEST_CASE(a_state_is_written_in_place_after_its_last_reader) {
    small s;
    const tensor old = state(s.x, "s", extents(6), zeros), next = old * 0.5f + 1.f;
    assign(old, next);
    s.plan({s.product(s.x, "w") + ops::tanh(parameter(s.x, "p", extents(6), zeros))});
    BOOST_TEST((s.at(next) == s.at(old)));
}
BOOST_AUTO_TEST_CASE(a_state_that_is_read_later_is_copied) {
    small s;
    const tensor old = state(s.x, "s", extents(6), zeros), next = old * 0.5f + 1.f;
    assign(old, next);
    s.plan({s.product(ops::tanh(s.product(s.x, "w")) * next, "v") * old});
    BOOST_TEST((s.at(next).where() == space::activation));
    BOOST_TEST(s.p.e.launches[s.p.e.n_launches - 1].group == -1);
}
BOOST_AUTO_TEST_CASE(a_state_is_not_written_by_the_kernel_that_still_reads_it) {
    {   // a product may read a row after it has written another
        small s;
        const tensor h = state(s.x, "h", extents(2, 6), zeros);
        assign(h, ops::tanh(s.product(h, "w")));
        s.plan({s.x * 2.f});
        BOOST_TEST((s.p.p.at[s.g.assignments[0].value].where() == space::activation));
    }
    {   // a walk in phases reads the row again
        small s;
        const tensor h = state(s.x, "h", extents(2, 6), zeros);
        const tensor y = h - max(h, {-1}, keep::yes);
        assign(h, h * 0.5f + ops::exp(y));
        s.plan({y * 3.f});
        BOOST_TEST((s.p.p.at[s.g.assignments[0].value].where() == space::activation));
    }
}
BOOST_AUTO_TEST_CASE(two_states_can_be_exchanged) {
    small s;
    const tensor a = state(s.x, "a", extents(6), zeros), b = state(s.x, "b", extents(6), zeros);
    assign(a, b);
    assign(b, a);
    s.plan({s.x * 2.f});
    BOOST_TEST(s.g.assignments[0].value != b.id);
}
BOOST_AUTO_TEST_CASE(gradients_lie_as_parameters_do) {
    small s;
    s.c.update = false;
    const tensor w = weights(s.x, "w", extents(6, 6), zeros), b = parameter(s.x, "b", extents(6), zeros);
    const tensor y = ops::matmul(s.x, w) + b;
    s.g.loss = ops::over_batch(ops::sum(ops::sum(y * y, {-1}), {batch_axis})).id;
    s.plan({});
    for (int i = 0; i < 2; ++i) {
        const address d = s.p.p.at[base_of(s.g.n, s.p.gradients[i])];
        BOOST_TEST((d.where() == space::gradient));
        BOOST_TEST(d.offset() == s.p.p.at[s.g.parameters[i].id].offset());
    }
}
BOOST_AUTO_TEST_CASE(live_floats_are_those_of_the_buffers) {
    small s;
    tensor y = s.x;
    const char* const names[] = {"a", "b", "c", "d", "e", "f"};
    for (const char* n : names) y = ops::tanh(s.product(y, n));
    s.plan({y});
    std::int64_t most = 0;
    for (int i = 0; i < s.p.f.groups; ++i) most = std::max(most, s.p.p.live[i]);
    BOOST_TEST(most == s.p.p.z.activations);
    BOOST_TEST(most == s.p.p.z.alive);
}

static_assert(address(space::slot, 1 << 20).offset() == 1 << 20 && address(space::slot, 16).where() == space::slot);
static_assert(port_of(port_address(7)) == 7 && address{}.where() == space::none);
