// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE trace
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/compiler/passes/check_names.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>

#include <memory>
#include <string>
#include <vector>

/// What an expression leaves in the graph: nodes, names, ports, and what differs between the three programs.
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;

template <class Net, class Loss = mse_loss>
static std::unique_ptr<graph> traced_net(Net, program_mode mode = program_mode::training, Loss = {}) {
    auto g = std::make_unique<graph>();
    trace<Net, Loss>(*g, mode);
    if (g->err.what == fault_kind::none) check_names(*g);
    return g;
}
static std::vector<std::string> names(const graph& g) {
    std::vector<std::string> all;
    for (const growing<variable>* list : {&g.parameters, &g.states})
        for (int i = 0; i < list->n; ++i) {
            char path[200] = {};
            int n = 0;
            g.scopes.write_path((*list)[i].scope, path, n, 199);
            all.push_back(std::string(path) + '/' + (*list)[i].name);
        }
    return all;
}
static int count_of(const graph& g, op_id k) {
    int n = 0;
    for (int i = 0; i < g.n.n; ++i) n += g.n[i].k == k;
    return n;
}
using list = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(layers_are_numbered_within_their_scope) {
    const auto g = traced_net(image<8, 8, 1> >> conv2d<2, 3> >> relu >> conv2d<2, 3> >> flatten >> dense<4>
                              >> dense<3>);
    const list want{"conv2d/kernel", "conv2d/bias", "conv2d_1/kernel", "conv2d_1/bias", "dense/kernel", "dense/bias",
                    "dense_1/kernel", "dense_1/bias"};
    BOOST_TEST(names(*g) == want, boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(names_chosen_by_the_user) {
    const auto g = traced_net(features<4> >> named<"tower">(dense<4> >> relu >> dense<4>) >> named<"logits">(dense<3>)
                              >> dense<2>);
    const list want{"tower/dense/kernel", "tower/dense/bias", "tower/dense_1/kernel", "tower/dense_1/bias",
                    "logits/kernel", "logits/bias", "dense/kernel", "dense/bias"};
    BOOST_TEST(names(*g) == want, boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(shared_weights_exist_once) {
    const auto once = shared<"tower">(dense<4> >> relu >> dense<4>);
    const auto g = traced_net(features<4> >> [](tensor x) { return decltype(once){}(x) + decltype(once){}(x * 2.f); });
    BOOST_TEST((g->err.what == fault_kind::none));
    BOOST_TEST(g->parameters.n == 4);
    BOOST_TEST(count_of(*g, op::gemm) == 4);
}

static void refuses_names(const graph& g, const char* path) {
    BOOST_TEST((g.err.what == fault_kind::parameter_name_used_twice));
    BOOST_TEST(std::string(g.err.path, static_cast<std::size_t>(g.err.path_length)) == path);
}
BOOST_AUTO_TEST_CASE(two_parameters_of_one_name) {
    refuses_names(*traced_net(features<4> >> named<"a">(dense<4>) >> named<"a">(dense<4>)), "a");
    // in blocks each layer has a scope of its own, and the paths clash all the same
    refuses_names(*traced_net(features<4> >> named<"a">(dense<4> >> relu) >> named<"a">(dense<4> >> relu)), "a/dense");
    refuses_names(*traced_net(features<4> >> dense<4> >> named<"dense">(dense<4>)), "dense");
    refuses_names(*traced_net(features<4> >> dense<4> >> dense<4> >> named<"dense_1">(dense<4>)), "dense_1");
}

BOOST_AUTO_TEST_CASE(modes_differ_only_where_they_must) {
    constexpr auto net = features<6> >> dense<8> >> batch_norm >> relu >> dropout<0.5f> >> dense<3>;
    const auto train = traced_net(net), evaluate = traced_net(net, program_mode::evaluation),
               predict = traced_net(net, program_mode::prediction);
    BOOST_TEST(names(*train) == names(*evaluate), boost::test_tools::per_element());
    BOOST_TEST(names(*train) == names(*predict), boost::test_tools::per_element());
    BOOST_TEST(count_of(*train, op::random_uniform) == 1);
    BOOST_TEST(count_of(*evaluate, op::random_uniform) == 0);
    BOOST_TEST(train->assignments.n == 2);
    BOOST_TEST(evaluate->assignments.n == 0);
    BOOST_TEST(evaluate->loss >= 0);
    BOOST_TEST(predict->loss == -1);
    BOOST_TEST(predict->targets.n == 0);
    for (int i = 0; i < train->parameters.n; ++i)
        BOOST_TEST((train->n[train->parameters[i].id].s == predict->n[predict->parameters[i].id].s));
}
BOOST_AUTO_TEST_CASE(ports_are_inputs_and_then_targets) {
    const auto g = traced_net(inputs(image<4, 4, 1>, features<3>)
                              >> [](tensor a, tensor b) { return dense<5>(flatten(a)) + dense<5>(b); },
                              program_mode::training, softmax_cross_entropy);
    BOOST_TEST(g->inputs.n == 2);
    BOOST_TEST(g->targets.n == 1);
    for (int i = 0; i < 2; ++i) BOOST_TEST(g->n[g->inputs[i]].p[0] == i);
    const node& labels = g->n[g->targets[0]];
    BOOST_TEST(labels.p[0] == 2);
    BOOST_TEST(labels.p[1] == 5);   // classes: what labels must be below
    BOOST_TEST((labels.s.type == dtype::i32));
    BOOST_TEST(labels.s.rank == 0);
    BOOST_TEST(labels.s.batched);
    BOOST_TEST((g->n[g->loss].s == extents()));
}
BOOST_AUTO_TEST_CASE(operands_stand_before_users_and_equal_nodes_once) {
    const auto g = traced_net(features<4> >> [](tensor x) { return relu(x) * relu(x) + (x + 1.f) * (x + 1.f); });
    for (int i = 0; i < g->n.n; ++i)
        for (int k = 0; k < g->n[i].operands; ++k) BOOST_TEST(g->n[i].in[k] < i);
    BOOST_TEST(count_of(*g, op::relu) == 1);
    graph h;
    BOOST_TEST(constant(&h, 0.f).id != constant(&h, -0.f).id);   // 1 / x tells them apart
    BOOST_TEST(constant(&h, 2.f).id == constant(&h, 2.f).id);
}

struct counter : layer<counter> {
    static constexpr const char* name = "counter";
    static constexpr tensor trace(tensor x) {
        const tensor n = state(x, "n", extents(), zeros), last = state(x, "last", extents(), zeros);
        assign(n, n + 1.f);
        assign(last, n);
        return x;
    }
};
BOOST_AUTO_TEST_CASE(states_are_assigned_in_training_alone) {
    constexpr auto net = features<4> >> counter{} >> dense<4>;
    const auto g = traced_net(net);
    BOOST_TEST(g->assignments.n == 2);
    BOOST_TEST((g->n[g->assignments[1].value].k == op::broadcast));   // a copy: `n` itself will be overwritten
    BOOST_TEST(traced_net(net, program_mode::evaluation)->assignments.n == 0);
    const auto wrong = traced_net(features<4> >> [](tensor x) {
        assign(state(x, "s", extents(3), zeros), parameter(x, "p", extents(5), zeros));
        return x;
    });
    BOOST_TEST((wrong->err.what == fault_kind::shapes_not_broadcastable));
}
BOOST_AUTO_TEST_CASE(the_first_fault_is_kept_and_the_rest_runs_on) {
    const auto g = traced_net(features<4> >> [](tensor x) {
        const tensor y = reshape<3>(x);   // refused
        const tensor z = ops::reshape(y, extents(y.shape().size()));
        return dense<3>(z) + ops::concat(z, y);
    });
    BOOST_TEST((g->err.what == fault_kind::sizes_differ));
    BOOST_TEST(g->err.got.d[0] == 4);
    BOOST_TEST(g->err.needed.d[0] == 3);
}
BOOST_AUTO_TEST_CASE(labels_need_an_axis_of_classes) {
    const auto g = traced_net(features<4> >> [](tensor x) { return sum(x, {-1}); }, program_mode::training,
                              softmax_cross_entropy);
    BOOST_TEST((g->err.what == fault_kind::labels_do_not_fit_predictions));
}

// The same in constant evaluation, which is where programs are made.
static_assert([] {
    graph g;
    trace<decltype(features<4> >> dense<3>), mse_loss>(g, program_mode::training);
    return g.parameters.n == 2 && g.inputs.n == 1 && g.targets.n == 1 && g.loss > 0;
}());
