// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE emit
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/gelu.hpp>
#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "compiler/invariants.hpp"

/// Groups become launches, launches share kernels, members become instructions. (The instructions
/// of one group: emit_body.cpp. That they compute what the graph means: random_graphs.cpp.)
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct small {
    passes p;
    graph& g = p.g;
    tensor x;
    explicit small(shape s = batch_of(6)) : x(input(g, s)) {}
    void emit(std::initializer_list<tensor> outputs, choices c = {}) {
        for (const tensor& t : outputs) g.outputs.push(t.id);
        p.all(c);
        check_code(p);
    }
    std::vector<instruction> instructions(int launch) const {
        const spec& s = p.e.specs[p.e.launches[launch].spec];
        std::vector<instruction> w;
        for (int i = 0; i < s.instructions; ++i) w.push_back(instruction::unpack(p.e.code[s.code + i]));
        return w;
    }
    const spec& kernel(int launch) const { return p.e.specs[p.e.launches[launch].spec]; }
};
static int count_of(const std::vector<instruction>& w, opcode k) {
    int n = 0;
    for (const instruction& x : w) n += x.is(k);
    return n;
}
static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

BOOST_AUTO_TEST_CASE(twelve_equal_blocks_are_one_set_of_kernels) {
    auto kernels = [](int blocks) {
        small s(batch_of(4, 6));
        s.p.optimizer = make_optimizer_code<adam>();
        tensor y = s.x;
        for (int i = 0; i < blocks; ++i) {
            s.g.scope = s.g.scopes.open("block", 0);
            const tensor d = y - mean(y, {-1}, keep::yes), v = mean(d * d, {-1}, keep::yes);
            const tensor n = d / ops::sqrt(v + 1e-5f) * parameter(y, "gamma", extents(6), ones);
            y = y +
                ops::gelu(ops::matmul(n, weights(y, "w", extents(6, 6), zeros)) + parameter(y, "b", extents(6), zeros));
        }
        s.g.loss = ops::over_batch(ops::sum(ops::reshape(ops::sum(ops::sum(y * y, {-1}), {-1}), extents(1)),
                                            {batch_axis, 0})).id;
        s.emit({});
        return std::pair(s.p.e.n_specs, s.p.e.n_launches);
    };
    const auto [few, launches] = kernels(3);
    const auto [many, more] = kernels(12);
    BOOST_TEST(few == many);
    BOOST_TEST(more > 3 * launches);
}
BOOST_AUTO_TEST_CASE(constants_and_extents_are_not_part_of_a_kernel) {
    small s;
    const tensor a = ops::matmul(s.x, weights(s.x, "a", extents(6, 8), zeros)) * 2.f;
    const tensor b = ops::matmul(a, weights(s.x, "b", extents(8, 40), zeros)) * 3.f;
    s.emit({b});
    BOOST_TEST(s.p.e.n_launches == 2);
    BOOST_TEST(s.p.e.n_specs == 1);
    BOOST_TEST(s.p.e.constants[s.p.e.launches[0].first_constant] == 2.f);
    BOOST_TEST(s.p.e.constants[s.p.e.launches[1].first_constant] == 3.f);
    const std::int64_t* e = s.p.e.extents + s.p.e.launches[1].first_extent;
    BOOST_TEST(e[0] == 8);
    BOOST_TEST(e[1] == 40);
    BOOST_TEST(e[extent::columns] == 40);
}
BOOST_AUTO_TEST_CASE(products_of_more_rows_than_columns_are_shared_by_rows) {
    small s(batch_of(6, 8));
    const int rows = 6 * choices{}.max_batch;
    const tensor a = ops::matmul(s.x, weights(s.x, "a", extents(8, rows), zeros));
    const tensor b = ops::matmul(s.x, weights(s.x, "b", extents(8, rows + 1), zeros));
    s.emit({a, b});
    const auto by_rows = [&](int launch) { return s.p.e.extents[s.p.e.launches[launch].first_extent + 5] != 0; };
    BOOST_TEST(by_rows(0));
    BOOST_TEST(!by_rows(1));
}
BOOST_AUTO_TEST_CASE(extents_of_convolutions_are) {
    small s(batch_of(8, 8, 2));
    const tensor a = ops::conv2d(s.x, weights(s.x, "a", extents(3, 3, 2, 2), zeros));
    const tensor wide = ops::conv2d(s.x, weights(s.x, "c", extents(5, 5, 2, 2), zeros));
    const tensor b = ops::conv2d(a, weights(s.x, "b", extents(3, 3, 2, 2), zeros));
    s.emit({b * wide});
    BOOST_TEST(s.p.e.n_specs == 3);   // two of them differ in their body, the third in its window
    const spec& k = s.kernel(0);
    const int want[] = {8, 8, 2, 8, 8, 2, 3, 3, 1, 1, 1, 0};
    BOOST_TEST(k.extents == want, boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(a_convolution_of_something_without_batch_runs_once) {
    small s;
    const tensor image = parameter(s.x, "image", extents(6, 6, 2), zeros);
    s.emit({ops::max_pool(ops::tanh(ops::conv2d(image, weights(s.x, "w", extents(3, 3, 2, 2), zeros))), 3,
                          {2, padding::valid})});
    for (int i = 0; i < s.p.e.n_launches; ++i) BOOST_TEST(!s.p.e.launches[i].batched);
}
BOOST_AUTO_TEST_CASE(elementwise_walks_are_flat) {
    small s(batch_of(4, 6));
    s.emit({ops::tanh(s.x) * 2.f});
    BOOST_TEST((s.kernel(0).kind == walk::flat));
    BOOST_TEST(s.p.e.launches[0].m == 24);
    BOOST_TEST(s.p.e.launches[0].batched);
    const auto w = s.instructions(0);
    BOOST_TEST(w.size() == 5U);
    BOOST_TEST(w[0].is(opcode::load));
    BOOST_TEST(w[1].is(op::tanh));
    BOOST_TEST(w[2].is(opcode::literal));
    BOOST_TEST(w[3].is(op::mul));
    BOOST_TEST(w[4].is(opcode::store));
    BOOST_TEST(w[3].a == 1);
    BOOST_TEST(w[3].b == 2);
}
BOOST_AUTO_TEST_CASE(rows_make_a_walk_of_rows) {
    small s(batch_of(4, 6));
    s.emit({s.x + parameter(s.x, "b", extents(6), zeros)});
    BOOST_TEST((s.kernel(0).kind == walk::rows));
    BOOST_TEST(s.p.e.launches[0].m == 4);
}
BOOST_AUTO_TEST_CASE(parts_of_short_rows_have_some_of_them) {
    const auto parts = [](int columns, int rows) {
        small s(batch_of(columns));
        s.emit({ops::log_softmax(s.x)}, {.max_batch = rows});
        return s.p.e.launches[0].parts;
    };
    BOOST_TEST(parts(10, 16) == 1);   // what takes so little time has but one
    BOOST_TEST(parts(10, 200) == 6);
    BOOST_TEST(parts(128, 31) == 1);
    BOOST_TEST(parts(128, 256) == 8);
    BOOST_TEST(parts(10, 2000) == 8);
    BOOST_TEST(parts(1000, 8) == 8);   // of long rows even one
}
BOOST_AUTO_TEST_CASE(one_value_a_row_is_stored_for_every_row) {   // though all are the same constant
    small s(batch_of(4, 6));
    const tensor c = ops::over_batch(ops::broadcast_to(constant(&s.g, 2.f), batch_of(4, 1)));
    const tensor y = ops::tanh(s.x * c);
    s.emit({y, ops::reshape(c, extents(4))});
    for (int i = 0; i < s.p.e.n_launches; ++i)
        for (const instruction& w : s.instructions(i))
            if (w.is(opcode::store) && w.row) BOOST_TEST((s.kernel(i).kind == walk::rows));
}
BOOST_AUTO_TEST_CASE(an_update_rides_on_its_gradient) {
    small s;
    s.p.optimizer = make_optimizer_code<sgd>();
    const tensor y = ops::matmul(s.x, weights(s.x, "w", extents(6, 6), zeros));
    s.g.loss = ops::over_batch(ops::sum(ops::sum(y * y, {-1}), {batch_axis})).id;
    s.emit({});
    const int last = s.p.e.n_launches - 1;
    BOOST_TEST((s.kernel(last).kind == op::gemm_tn));
    BOOST_TEST(s.p.e.launches[last].group >= 0);
    int parameter_stores = 0;
    for (const instruction& w : s.instructions(last))
        parameter_stores += w.is(opcode::store) &&
            s.p.e.args[s.p.e.launches[last].first_arg + w.arg].where() == space::parameter;
    BOOST_TEST(parameter_stores == 1);
    BOOST_TEST(count_of(s.instructions(last), opcode::store) == 1);   // the gradient itself is nowhere
}
BOOST_AUTO_TEST_CASE(all_other_updates_are_one_sweep) {
    small s;
    s.p.optimizer = make_optimizer_code<sgd>();
    tensor y = s.x;
    for (int i = 0; i < 6; ++i) y = ops::tanh(y * 0.5f + parameter(s.x, names[i], extents(6), zeros));
    s.g.loss = ops::over_batch(ops::sum(ops::sum(y * y, {-1}), {batch_axis})).id;
    s.emit({});
    int sweeps = 0;
    for (int i = 0; i < s.p.e.n_launches; ++i)
        if (s.p.e.launches[i].group < 0) {
            ++sweeps;
            BOOST_TEST(s.p.e.launches[i].m == 6 * 16);
        }
    BOOST_TEST(sweeps == 1);
}
BOOST_AUTO_TEST_CASE(parameters_without_a_gradient_are_left_alone) {
    small s;
    s.p.optimizer = make_optimizer_code<sgd>();
    const tensor frozen = stop_gradient(parameter(s.x, "frozen", extents(6), zeros)),
        w = weights(s.x, "w", extents(6, 6), zeros);
    const tensor y = ops::matmul(s.x * frozen, w);
    s.g.loss = ops::over_batch(ops::sum(ops::sum(y * y, {-1}), {batch_axis})).id;
    s.emit({});
    BOOST_TEST(s.p.updated[1]);
    // and there is no sweep at all
    for (int i = 0; i < s.p.e.n_launches; ++i) BOOST_TEST(s.p.e.launches[i].group >= 0);
}
