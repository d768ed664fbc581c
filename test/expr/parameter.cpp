// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE parameter
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/expr/initialized.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/trainer.hpp>

/// Users' own variables: states that count, parameters that nobody trains, layers applied twice;
/// first values that users choose.
using namespace sinter;
using namespace sinter::compiler;

constexpr auto net = initialized<ones, "w">(features<2> >> [](tensor x) {
    const tensor steps = state(x, "steps", extents(), zeros), sum = state(x, "sum", extents(2), ones);
    assign_add(steps, constant(x.ok() ? x.g : nullptr, 1.f));
    assign_add(sum, ops::sum(x, {batch_axis}));
    const tensor w = parameter(x, "w", extents(2), zeros),   // which the user overrides
                 fixed = parameter(x, "fixed", extents(2), constant_of(3), trainable::no);
    return outputs(x * w * fixed + steps, shared<"norm">(batch_norm)(x) + shared<"norm">(batch_norm)(x * 2.f + 1.f),
                   x * 0.f + sum);
});
struct first_output {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return sum(y[0], {-1}); }
};
constexpr parameter_groups optimizer{momentum{.learning_rate = 0.5f}, group_of<"*w*">(momentum{.learning_rate = 0.25f}),
                                     group_of<"fixed">(momentum{.learning_rate = 9})};
using counting = trainer<std::remove_const_t<decltype(net)>, first_output, std::remove_const_t<decltype(optimizer)>, 2>;

static const variable_info& find(const char* path) {
    for (int i = 0; i < counting::parameters(); ++i)
        if (counting::path(counting::parameter(i)) == path) return counting::parameter(i);
    for (int i = 0; i < counting::states(); ++i)
        if (counting::path(counting::state(i)) == path) return counting::state(i);
    throw std::runtime_error(path);
}

BOOST_AUTO_TEST_CASE(states_count_and_are_read_everywhere) {
    counting m(optimizer, {.threads = 1});
    const float x[] = {1, 2, 3, 6};
    const data::batch_view b{.x = x, .size = 2};
    for (int i = 0; i < 3; ++i) {
        m.step(b);
        BOOST_TEST(m.output(2)[1] == 1.f + 8.f * static_cast<float>(i));   // the old value
    }
    BOOST_TEST(m.plain(find("steps"))[0] == 3.f);
    BOOST_TEST(m.plain(find("sum")) == (std::vector<float>{13, 25}), boost::test_tools::per_element());
    const float w = m.plain(find("w"))[0];
    BOOST_TEST(m.predict(b, 0)[0] == 3 * w + 3);
    BOOST_TEST(m.predict(b, 2)[1] == 25.f);
    BOOST_TEST(m.plain(find("steps"))[0] == 3.f);   // predicting is no step
}
BOOST_AUTO_TEST_CASE(what_is_not_trainable_stays) {
    counting m(optimizer, {.threads = 1});
    const float x[] = {1, 2, 3, 6};
    m.step({.x = x, .size = 2});
    BOOST_TEST(m.plain(find("fixed")) == (std::vector<float>{3, 3}), boost::test_tools::per_element());
    BOOST_TEST(counting::slots_of(find("fixed")) == 0);
    BOOST_TEST(m.plain(find("w"))[0] == 1 - 0.25f * 3 * 2);   // the mean of x is 2
}
BOOST_AUTO_TEST_CASE(a_shared_batch_norm_runs_on_with_each_use) {
    counting m(optimizer, {.threads = 1});
    const float x[] = {1, 2, 3, 6};
    m.step({.x = x, .size = 2});
    const float mean = 2, again = 2 * mean + 1, variance = 1, more = 4;
    BOOST_TEST(m.plain(find("norm/running_mean"))[0] == (0 * 0.99f + mean * 0.01f) * 0.99f + again * 0.01f,
               boost::test_tools::tolerance(1e-5f));
    BOOST_TEST(m.plain(find("norm/running_variance"))[0] == (0.99f + variance * 0.01f) * 0.99f + more * 0.01f,
               boost::test_tools::tolerance(1e-5f));
}

constexpr fault_kind fault_of(void (*f)(tensor, tensor)) {
    graph g;
    const tensor like{&g, 0};
    f(state(like, "s", extents(3), zeros), parameter(like, "p", extents(3), zeros));
    return g.err.what;
}
static_assert(fault_of([](tensor s, tensor p) { assign(s, p); }) == fault_kind::none);
static_assert(fault_of([](tensor s, tensor p) { assign(s, p); assign_add(s, p); }) == fault_kind::assigned_twice);
static_assert(fault_of([](tensor s, tensor p) { assign(p, s); }) == fault_kind::not_a_state);

/// Does each parameter of a net start so?
template <class Net>
constexpr bool starts(Net, std::initializer_list<initializer> want) {
    graph g;
    Net::trace(g);
    bool all = g.err.what == fault_kind::none && g.parameters.n == static_cast<int>(want.size());
    for (int i = 0; all && i < g.parameters.n; ++i) {
        const initializer a = g.parameters[i].init, b = want.begin()[i];
        all = a.kind == b.kind && a.a == b.a && a.middle == b.middle;
    }
    return all;
}
static_assert(starts(features<6> >> initialized<he_normal, "*/kernel">(dense<4>)
                                 >> initialized<constant_of(0.5f), "*/bias">(dense<2>),
                     {he_normal(6), zeros, glorot_uniform(4, 2), constant_of(0.5f)}));
static_assert(starts(image<8, 8, 3> >> initialized<glorot_normal, "*/kernel">(
                         initialized<orthogonal_of(2.f), "conv2d_1/*">(conv2d<4, 3> >> conv2d<5, 1>)),
                     // the innermost decides
                     {glorot_normal(27, 36), zeros, orthogonal_of(2.f), orthogonal_of(2.f)}));
// of a whole net
static_assert(starts(initialized<lecun_normal, "*gamma", "*beta">(features<3> >> batch_norm) >> dense<1>,
                     {lecun_normal(3), lecun_normal(3), glorot_uniform(3, 1), zeros}));
constexpr auto tower = shared<"tower">(initialized<identity, "*/kernel">(dense<2>));
static_assert(starts(features<2> >> tower >> tower, {identity, zeros}));
constexpr auto around = initialized<identity, "*/kernel">(shared<"tower">(dense<2>));
static_assert(starts(features<2> >> around >> around, {identity, zeros}));

template <class Net>
constexpr bool matches_nothing(Net) {
    graph g;
    Net::trace(g);
    return g.err.what == fault_kind::no_parameter_matches;
}
static_assert(matches_nothing(features<2> >> initialized<ones, "*/kernel", "*/gamma">(dense<2>)));
// of another layer
static_assert(matches_nothing(features<2> >> dense<2> >> initialized<ones, "dense/kernel">(dense<2>)));
static_assert(matches_nothing(features<2> >> dense<2> >> initialized<ones, "*">(flatten)));
