// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE emit_body
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/softmax.hpp>
#include <sinter/ops/tanh.hpp>

#include "compiler/invariants.hpp"

/// The instructions of one group. (Launches and shared kernels: emit.cpp. That the instructions
/// compute what the graph means: random_graphs.cpp.)
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::test;

struct small {
    passes p;
    graph& g = p.g;
    tensor x = input(g, batch_of(4, 6));
    std::vector<instruction> instructions;
    view<const float> literals;
    tensor own(const char* name, shape s) { return parameter(x, name, s, zeros); }
    /// The body of the first group.
    void body_of(std::initializer_list<tensor> outputs) {
        for (const tensor& t : outputs) g.outputs.push(t.id);
        p.all({});
        check_code(p);
        const launch& l = p.e.launches[0];
        const spec& s = p.e.specs[l.spec];
        for (int i = 0; i < s.instructions; ++i) instructions.push_back(instruction::unpack(p.e.code[s.code + i]));
        literals = {p.e.constants + l.first_constant, p.e.n_constants - l.first_constant};
    }
    int count(opcode k) const {
        int n = 0;
        for (const instruction& w : instructions) n += w.is(k);
        return n;
    }
};

BOOST_AUTO_TEST_CASE(one_load_and_one_literal_for_all_users) {
    small s;
    s.body_of({ops::tanh(s.x * 2.f) + ops::exp(s.x + 2.f)});
    BOOST_TEST(s.count(opcode::load) == 1);
    BOOST_TEST(s.count(opcode::literal) == 1);
    BOOST_TEST(s.literals.n == 1);
    BOOST_TEST(s.literals[0] == 2.f);
    BOOST_TEST(s.count(opcode::store) == 1);
    BOOST_TEST(s.instructions.back().is(opcode::store));
}
BOOST_AUTO_TEST_CASE(how_an_operand_is_mapped) {
    struct want {
        shape s;
        row_map rows;
        bool columns;
    };
    const want all[] = {{extents(4, 6), row_map::modulo, true}, {extents(6), row_map::none, true},
                        {batch_of(4, 1), row_map::same, false}, {extents(1), row_map::none, false}};
    for (const want& w : all) {
        small s;
        const tensor other = w.s.batched ? input(s.g, w.s) : s.own("p", w.s);
        s.body_of({s.x * 0.5f - other});
        BOOST_REQUIRE(s.count(opcode::load) == 2);
        const instruction& last = *std::find_if(s.instructions.rbegin(), s.instructions.rend(),
                                                [](const instruction& x) { return x.is(opcode::load); });
        BOOST_TEST((last.rows() == w.rows));
        BOOST_TEST(last.columns() == w.columns);
        BOOST_TEST(last.row == !w.columns);   // what is the same along the columns is read once a row
    }
}
BOOST_AUTO_TEST_CASE(softmax_has_three_passes_and_keeps_what_it_needs) {
    small s;
    s.body_of({ops::softmax(ops::tanh(s.x))});
    BOOST_TEST(s.count(opcode::row_max) == 1);
    BOOST_TEST(s.count(opcode::row_sum) == 1);
    BOOST_TEST(s.count(opcode::spill) == 2);    // tanh for the second pass, exp for the third
    BOOST_TEST(s.count(opcode::reload) == 2);
    int passes = 0;
    for (const instruction& x : s.instructions) passes = std::max(passes, x.phase + 1);
    BOOST_TEST(passes == 3);
}
BOOST_AUTO_TEST_CASE(stored_values_are_read_back_instead) {
    small s;
    const tensor t = ops::tanh(s.x);
    s.body_of({t, t - max(t, {-1}, keep::yes)});
    BOOST_TEST(s.count(opcode::spill) == 0);
}
BOOST_AUTO_TEST_CASE(one_operation_on_an_array_is_made_again_instead) {
    small s;
    const tensor apart = s.x - mean(s.x, {-1}, keep::yes);
    s.body_of({apart * ops::exp(sum(apart * apart, {-1}, keep::yes)), ops::tanh(sum(s.x * s.x, {-1}, keep::yes))});
    BOOST_TEST(s.count(opcode::spill) == 0);
    BOOST_TEST(s.count(opcode::load) == 3);   // x, once a pass
    int differences = 0;
    for (const instruction& w : s.instructions) differences += w.is(op::sub);
    BOOST_TEST(differences == 2);
}
BOOST_AUTO_TEST_CASE(a_reduction_is_there_in_the_next_pass) {
    small s;
    const tensor m = max(s.x * 2.f, {-1}, keep::yes);
    s.body_of({ops::tanh(m)});
    for (const instruction& w : s.instructions) {
        if (w.is(opcode::row_max)) BOOST_TEST(w.phase == 0);
        if (w.is(op::tanh)) BOOST_TEST((w.phase == 1 && w.row));
    }
}
BOOST_AUTO_TEST_CASE(rematerialized_values_are_computed_where_they_are_used) {
    small s;
    const tensor half = s.x * 0.5f;
    s.body_of({ops::tanh(half)});
    BOOST_TEST(s.p.f.of[half.id] == rematerialized);
    int products = 0;
    for (const instruction& w : s.instructions) products += w.is(op::mul);
    BOOST_TEST(products == 1);
}
BOOST_AUTO_TEST_CASE(behind_a_kernel_its_result_is_the_first_instruction) {
    small s;
    const tensor y = ops::matmul(s.x, weights(s.x, "w", extents(6, 8), zeros));
    s.body_of({ops::tanh(y)});
    BOOST_REQUIRE(s.instructions.size() == 3U);
    BOOST_TEST(s.instructions[0].is(opcode::accumulator));
    BOOST_TEST(s.instructions[1].is(op::tanh));
    BOOST_TEST(s.instructions[2].is(opcode::store));
}

static_assert([] {   // instructions survive packing
    const instruction w{7, 8, 9, 13, 1234, 3, 1};
    const instruction v = instruction::unpack(w.pack());
    return v.code == 7 && v.a == 8 && v.b == 9 && v.map == 13 && v.arg == 1234 && v.phase == 3 && v.row == 1;
}());
