// SPDX-License-Identifier: BSL-1.0
// alone: it declares names that other tests use as they are
// Machinery is not seen by `using namespace sinter`: a program may have types, variables and functions of these names.
// (test/tools/public_names.sh compares all names with a list.)
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// Each is declared, then found without qualification, which would be ambiguous if sinter had it, too.
#define OWN_TYPES(DO)                                                                                              \
    DO(address) DO(arena) DO(assignment) DO(bucket) DO(buffer) DO(call) DO(callback) DO(compiled) DO(emitter)      \
    DO(executor) DO(extent) DO(fused) DO(graph) DO(graph_view) DO(group) DO(grouping) DO(growing) DO(instruction)  \
    DO(launch) DO(listing) DO(loop) DO(node) DO(opcode) DO(pass_list) DO(patience) DO(placed) DO(plan) DO(planner) \
    DO(request) DO(scope_tree) DO(scoped) DO(space) DO(spec) DO(step) DO(target) DO(team) DO(text) DO(variable)    \
    DO(view) DO(walk) DO(word) DO(worker)
#define OWN_FUNCTIONS(DO)                                                                                         \
    DO(append) DO(base_of) DO(bound) DO(constant) DO(differentiate) DO(enter) DO(exact) DO(fail) DO(fuse) DO(got) \
    DO(grown) DO(hoist) DO(is) DO(is_leaf) DO(make) DO(matches) DO(needed) DO(normal) DO(reads) DO(recompute)     \
    DO(relax) DO(root) DO(round_up) DO(separate) DO(share) DO(stream) DO(take) DO(trace) DO(uniform)

#define DECLARE_TYPE(NAME) struct NAME { int value = 1; };
#define DECLARE_FUNCTION(NAME) \
    static int NAME(int x) { return x; }
OWN_TYPES(DECLARE_TYPE)
OWN_FUNCTIONS(DECLARE_FUNCTION)

BOOST_AUTO_TEST_CASE(a_program_has_names_of_its_own) {
    int types = 0, functions = 0, of_types = 0, of_functions = 0;
#define USE_TYPE(NAME) types += NAME{}.value, ++of_types;
#define USE_FUNCTION(NAME) functions += NAME(1), ++of_functions;
    OWN_TYPES(USE_TYPE)
    OWN_FUNCTIONS(USE_FUNCTION)
    BOOST_TEST(types == of_types);
    BOOST_TEST(functions == of_functions);
}

BOOST_AUTO_TEST_CASE(and_trains_a_net_all_the_same) {
    static constexpr auto net = features<4> >> dense<3> >> relu >> dense<2>;
    trainer model{net, mse, sgd{.learning_rate = 0.1f}, max_batch<2>};
    const float x[8] = {1, 2, 3, 4, 4, 3, 2, 1}, y[4] = {0, 1, 1, 0};
    const data::batch_view b{.x = x, .y = y, .size = 2};
    const float first = model.step(b);
    for (int i = 0; i < 20; ++i) model.step(b);
    BOOST_TEST(model.step(b) < first);
}
