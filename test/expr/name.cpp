// SPDX-License-Identifier: BSL-1.0
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE name
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/expr/input.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

doubles affine(const doubles& x, const doubles& w, const doubles& b, bool rectify) {
    const int k = w.d[0], n = w.d[1];
    doubles y({x.d[0], n});
    for (int i = 0; i < y.size(); ++i) {
        y[i] = b[i % n];
        for (int t = 0; t < k; ++t) y[i] += x[i / n * k + t] * w[t * n + i % n];
        if (rectify) y[i] = std::max(y[i], 0.);
    }
    return y;
}

BOOST_AUTO_TEST_CASE(names_of_the_users_own) {
    constexpr auto net = features<4> >> named<"body">(dense<3> >> relu >> dense<5>) >> named<"logits">(dense<2>)
        >> dense<1>;
    const auto p = make_run<decltype(net), weigh_outputs, as_trained>();
    BOOST_TEST(p->paths == (std::vector<std::string>{"body/dense/kernel", "body/dense/bias", "body/dense_1/kernel",
                                                     "body/dense_1/bias", "logits/kernel", "logits/bias",
                                                     "dense/kernel", "dense/bias"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(shared_weights_collect_all_their_gradients) {
    constexpr auto towers = [](tensor a, tensor b) {
        constexpr auto tower = shared<"tower">(dense<3> >> relu >> dense<2>);
        return tower(a) - 2.f * tower(b);
    };
    constexpr auto net = inputs(features<4>, features<4>) >> towers;
    const auto p = make_run<decltype(net), weigh_outputs, as_trained>();
    BOOST_TEST(p->paths == (std::vector<std::string>{"tower/dense/kernel", "tower/dense/bias", "tower/dense_1/kernel",
                                                     "tower/dense_1/bias"}),
               boost::test_tools::per_element());
    check_net(net, [](const auto& q, const auto& x) {
        auto tower = [&](const doubles& v) { return affine(affine(v, q[0], q[1], true), q[2], q[3], false); };
        return std::vector{map(tower(x[0]), tower(x[1]), [](double a, double b) { return a - 2 * b; })};
    });
}

constexpr auto block = dense<16> >> activation::tanh >> dense<24> >> activation::tanh >> dense<8> >> activation::tanh;
constexpr auto kept = features<8> >> dense<8> >> block >> block >> block;
constexpr auto again = features<8> >> dense<8> >> checkpoint(block) >> checkpoint(block) >> checkpoint(block);

BOOST_AUTO_TEST_CASE(checkpointed_blocks_are_computed_twice) {
    const auto a = make_run<decltype(kept), weigh_outputs, as_fused, 64>(),
        b = make_run<decltype(again), weigh_outputs, as_fused, 64>(),
               c = make_run<decltype(again), weigh_outputs, as_unfused, 64>();
    const net_data d = draw_for(*a);
    for (program_run* p : {a.get(), b.get(), c.get()}) {
        for (std::size_t i = 0; i < d.parameters.size(); ++i) p->set(p->parameters[i], d.parameters[i]);
        p->run(37, {d.inputs[0], d.targets[0]});
    }
    BOOST_TEST(a->paths == b->paths, boost::test_tools::per_element());
    BOOST_TEST((a->output(0, 37) == b->output(0, 37)));
    for (int i = 0; i < static_cast<int>(a->parameters.size()); ++i) {
        const auto want = a->gradient(i);
        const doubles w({static_cast<int>(want.size())}, std::vector<double>(want.begin(), want.end()));
        check_close(b->gradient(i), w, 1e-6, a->paths[static_cast<std::size_t>(i)]);
        check_close(c->gradient(i), w, 1e-6, a->paths[static_cast<std::size_t>(i)]);
    }
    BOOST_TEST_MESSAGE("activations: " << a->memory.activations.size() << " kept, " << b->memory.activations.size()
                       << " checkpointed");
    BOOST_TEST(b->memory.activations.size() < a->memory.activations.size());
}

/// Random numbers in a recomputed block must be the first ones again, and states must not move twice.
constexpr auto noisy = dense<8> >> batch_norm >> dropout<0.5f> >> activation::tanh >> dense<8>;
BOOST_AUTO_TEST_CASE(checkpointed_dropout_and_batch_norm) {
    const auto a = make_run<decltype(features<8> >> dense<8> >> noisy >> dense<2>), weigh_outputs, as_fused>();
    const auto b =
        make_run<decltype(features<8> >> dense<8> >> checkpoint(noisy) >> dense<2>), weigh_outputs, as_fused>();
    const net_data d = draw_for(*a);
    for (program_run* p : {a.get(), b.get()}) {
        for (std::size_t i = 0; i < d.parameters.size(); ++i) p->set(p->parameters[i], d.parameters[i]);
        p->run(5, {d.inputs[0], d.targets[0]});
    }
    for (int i = 0; i < static_cast<int>(a->parameters.size()); ++i) {
        const auto want = a->gradient(i);
        check_close(b->gradient(i),
                    doubles({static_cast<int>(want.size())}, std::vector<double>(want.begin(), want.end())), 1e-5,
                    a->paths[static_cast<std::size_t>(i)]);
    }
    for (std::size_t i = 0; i < a->states.size(); ++i) BOOST_TEST((a->value(a->states[i]) == b->value(b->states[i])));
}

/// Two tensors to two, under a name, shared, recomputed.
constexpr auto mixed = [](tensor a, tensor b) {
    const tensor h = activation::tanh(dense<5>(a) + dense<5>(b));
    return outputs(activation::tanh(dense<4>(h)) * a, dense<4>(h) + b);
};
std::vector<doubles> mixed_reference(const doubles& a, const doubles& b, const doubles* p) {
    auto plus = [](double u, double v) { return u + v; };
    auto bent = [](double v) { return std::tanh(v); };
    const doubles h = map(map(affine(a, p[0], p[1], false), affine(b, p[2], p[3], false), plus), bent);
    return {map(map(affine(h, p[4], p[5], false), bent), a, [](double u, double v) { return u * v; }),
            map(affine(h, p[6], p[7], false), b, plus)};
}
constexpr auto two = inputs(features<4>, features<4>);

BOOST_AUTO_TEST_CASE(several_tensors_under_a_name_and_shared) {
    constexpr auto net = two >> named<"first">(mixed) >> shared<"mixed">(mixed) >> shared<"mixed">(mixed);
    const auto p = make_run<decltype(net), weigh_outputs, as_trained>();
    BOOST_TEST(p->paths.size() == 16U);
    BOOST_TEST(p->paths[2] == "first/dense_1/kernel");
    BOOST_TEST(p->paths[8] == "mixed/dense/kernel");
    check_net(net, [](const auto& q, const auto& x) {
        auto y = mixed_reference(x[0], x[1], q.data());
        for (int i = 0; i < 2; ++i) y = mixed_reference(y[0], y[1], q.data() + 8);
        return y;
    });
}
// all results have gradients, and the inputs of the second block
BOOST_AUTO_TEST_CASE(checkpoint_of_several_tensors) {
    constexpr auto net = two >> checkpoint(mixed) >> checkpoint(mixed);
    check_net(net, [](const auto& q, const auto& x) {
        const auto y = mixed_reference(x[0], x[1], q.data());
        return mixed_reference(y[0], y[1], q.data() + 8);
    });
    const auto p = make_run<decltype(net), weigh_outputs, as_trained>();
    const auto q = make_run<decltype(two >> mixed >> mixed), weigh_outputs, as_trained>();
    BOOST_TEST(p->paths == q->paths, boost::test_tools::per_element());
}
/// The layer's own name gives way to the user's, however many tensors the layer takes.
struct scaled_sum : layer<scaled_sum> {
    static constexpr const char* name = "scaled_sum";
    static constexpr tensor trace(tensor a, tensor b) { return a + b * parameter(a, "scale", extents(4), ones); }
};
BOOST_AUTO_TEST_CASE(names_of_layers_of_several_tensors) {
    const auto p = make_run<decltype(two >> [](tensor a, tensor b) {
        return outputs(scaled_sum{}(a, b), named<"mine">(scaled_sum{})(a, b), shared<"ours">(scaled_sum{})(b, a));
    }), weigh_outputs, as_trained>();
    BOOST_TEST(p->paths == (std::vector<std::string>{"scaled_sum/scale", "mine/scale", "ours/scale"}),
               boost::test_tools::per_element());
}
