// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE update
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "compiler/invariants.hpp"

/// Which parameters are updated within the kernel of their gradient.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct small {
    passes p;
    graph& g = p.g;
    tensor x = input(g, batch_of(6));
    template <class Optimizer = sgd>
    void train(tensor y, choices c = {}) {
        p.optimizer = make_optimizer_code<Optimizer>();
        const tensor l = ops::reshape(y * y, extents(y.shape().size()));
        g.loss = ops::over_batch(ops::sum(ops::sum(l, {-1}), {batch_axis})).id;
        p.all(c);
        check_groups(p);
        check_plan(p, c);
    }
    tensor product(tensor a, tensor w) { return ops::matmul(a, w); }
    tensor square(const char* name) { return weights(x, name, extents(6, 6), zeros); }
};

BOOST_AUTO_TEST_CASE(weights_of_a_product) {
    small s;
    s.train(s.product(ops::tanh(s.product(s.x, s.square("a"))), s.square("b")));
    BOOST_TEST(s.p.updated[0]);
    BOOST_TEST(s.p.updated[1]);   // its transpose for the input's gradient was made before
}
BOOST_AUTO_TEST_CASE(never_without_fusion_or_leave) {
    for (const choices c : {choices{.fuse = false}, choices{.update = false}}) {
        small s;
        s.train(s.product(s.x, s.square("a")), c);
        BOOST_TEST(!s.p.updated[0]);
    }
}
BOOST_AUTO_TEST_CASE(never_a_gradient_made_of_several) {   // the sum may be, its terms may not
    small s;
    const tensor w = s.square("a");
    s.train(s.product(ops::tanh(s.product(s.x, w)), w));
    if (s.p.updated[0]) BOOST_TEST((s.g.n[base_of(s.g.n, s.p.gradients[0])].k == op::add));
}
BOOST_AUTO_TEST_CASE(never_a_gradient_with_another_user) {
    small s;
    const tensor w = s.square("a");
    const tensor y = s.product(s.x, w);
    const tensor l = ops::reshape(y * y, extents(6));
    s.p.optimizer = make_optimizer_code<sgd>();
    s.g.loss = ops::over_batch(ops::sum(ops::sum(l, {-1}), {batch_axis})).id;
    s.p.differentiate_all();
    s.g.outputs.push((tensor{&s.g, s.p.gradients[0]} * 2.f).id);
    s.p.behind_gradients({});
    BOOST_TEST(!s.p.updated[0]);
}
BOOST_AUTO_TEST_CASE(never_before_the_last_reader) {
    small s;
    const tensor w = s.square("a"), v = s.square("b");
    // w is read again, elementwise, for the gradient of b: later than its own gradient or in the same kernel
    s.train(s.product(s.product(s.x, w), v * w));
    check_plan(s.p, {});
}
BOOST_AUTO_TEST_CASE(never_a_parameter_that_is_an_output) {
    small s;
    const tensor w = s.square("a");
    s.g.outputs.push(w.id);
    s.train(s.product(s.x, w));
    BOOST_TEST(!s.p.updated[0]);
}
BOOST_AUTO_TEST_CASE(sums_over_rows_are_updated_in_the_sweep) {
    small s;
    const tensor y = s.product(s.x, s.square("a"));
    s.train(y + parameter(s.x, "bias", extents(6), zeros));
    BOOST_TEST(s.p.updated[0]);
    BOOST_TEST(!s.p.updated[1]);   // a column sum is finished only when its kernel is
}
/// As Adam with the largest second moment kept: a slot more.
struct three_slots {
    static constexpr int slots = 3, n_scalars = 1;
    static constexpr void update(update_context& u) {
        tensor step = u.gradient();
        for (int i = 0; i < slots; ++i) u.set_slot(i, step = u.slot(i) * 0.5f + step);
        u.set_parameter(u.parameter() - step * u.scalar(0));
    }
};
BOOST_AUTO_TEST_CASE(two_slots_are_spliced_behind_products_and_more_are_not) {
    small two, three;
    two.train<adam>(two.product(two.x, two.square("a")));
    BOOST_TEST(two.p.updated[0]);
    three.train<three_slots>(three.product(three.x, three.square("a")));
    BOOST_TEST(!three.p.updated[0]);
}
BOOST_AUTO_TEST_CASE(every_parameter_is_updated_once) {
    small s;
    s.train(s.product(ops::tanh(s.product(s.x, s.square("a")) + parameter(s.x, "b", extents(6), zeros)),
                      s.square("c")) *
            parameter(s.x, "d", extents(6), zeros));
    // a store into the parameters' arena for each 64 bytes of it, by one launch alone
    std::vector<int> writes(static_cast<std::size_t>(s.p.p.z.parameters / 16), 0);
    for (int i = 0; i < s.p.e.n_launches; ++i) {
        const launch& l = s.p.e.launches[i];
        const spec& k = s.p.e.specs[l.spec];
        for (int w = 0; w < k.instructions; ++w) {
            const instruction c = instruction::unpack(s.p.e.code[k.code + w]);
            if (!c.is(opcode::store)) continue;
            const address a = s.p.e.args[l.first_arg + c.arg];
            if (a.where() != space::parameter) continue;
            const std::int64_t n = l.group < 0 ? l.m : s.p.f.g[l.group].space.size();
            for (std::int64_t j = a.offset() / 16; j < (a.offset() + n + 15) / 16; ++j)
                ++writes[static_cast<std::size_t>(j)];
        }
    }
    for (int n : writes) BOOST_TEST(n == 1);
}
