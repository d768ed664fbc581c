// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sink
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/tanh.hpp>

#include "compiler/fused_graph.hpp"

/// Walks that move down into the groups that use them, and what must lie in memory. (How groups are made: fuse.cpp.)
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct small : fused_graph {
    tensor x = input(g, batch_of(4, 6));
    /// Both halves of fusion, or the first half and the second without moving anything; the number of groups.
    int groups(std::initializer_list<tensor> outputs, bool move = true) {
        need(outputs);
        grouping r = p.groups();
        group_nodes(p.view(), r);
        sink_groups(p.view(), r, move);
        p.f.groups = r.g.n;
        return checked_groups();
    }
    tensor own(const char* name, shape s = extents(6)) { return parameter(x, name, s, zeros); }
    tensor product(tensor a) { return ops::matmul(a, weights(x, "w", extents(6, 6), zeros)); }
    tensor before(const char* name) { return ops::exp(ops::tanh(x) - own(name)); }
};

BOOST_AUTO_TEST_CASE(into_its_only_user) {   // made before the product, used only behind it
    small s, kept;
    const tensor d = s.before("p"), y = s.product(s.x);
    BOOST_TEST(s.groups({y * d}) == 1);
    BOOST_TEST(s.of(d) == s.of(y));
    BOOST_TEST(!s.stored(d));
    const tensor e = kept.before("p"), z = kept.product(kept.x);
    BOOST_TEST(kept.groups({z * e}, false) == 2);
    BOOST_TEST(kept.stored(e));
}
BOOST_AUTO_TEST_CASE(members_stand_by_number_behind_the_root) {
    small s;
    const tensor d = s.before("p"), y = s.product(s.x);
    s.groups({y * d});
    const group& q = s.p.f.g[s.of(y)];
    BOOST_TEST(q.head == y.id);
    for (int v = s.p.f.next[q.head]; v >= 0 && s.p.f.next[v] >= 0; v = s.p.f.next[v]) BOOST_TEST(v < s.p.f.next[v]);
    BOOST_TEST(s.p.f.next[q.tail] == -1);
}
BOOST_AUTO_TEST_CASE(what_a_product_reads_stays) {
    small s;
    const tensor d = ops::tanh(s.x), y = s.product(d);
    BOOST_TEST(s.groups({y * d}) == 2);
    BOOST_TEST(s.stored(d));
}
BOOST_AUTO_TEST_CASE(into_the_first_of_two_users) {
    small s;
    const tensor d = s.before("p"), y = s.product(s.x) * d,
        z = ops::matmul(y, weights(s.x, "v", extents(6, 6), zeros)) * d;
    BOOST_TEST(s.groups({z}) == 2);
    BOOST_TEST(s.of(d) == s.of(y));
    BOOST_TEST(s.stored(d));   // the second reads it from memory
}
BOOST_AUTO_TEST_CASE(not_into_other_rows) {
    small s;
    const tensor d = s.before("p"), y = ops::matmul(s.x, weights(s.x, "w", extents(6, 3), zeros));
    BOOST_TEST(s.groups({y * ops::reshape(ops::sum(d, {-1}), extents(4, 1))}) == 2);
    BOOST_TEST(s.of(d) != s.of(y));
}
BOOST_AUTO_TEST_CASE(not_with_a_reduction) {
    small s;
    const tensor d = ops::tanh(s.x), m = ops::max(d, {-1}, keep::yes), y = s.product(s.x);
    BOOST_TEST(s.groups({y * (d - m)}) == 2);
    BOOST_TEST(s.of(m) != s.of(y));
}
BOOST_AUTO_TEST_CASE(outputs_and_states_are_stored_wherever_they_are) {
    small s;
    const tensor d = s.before("p"), y = s.product(s.x) * d, n = state(s.x, "n", extents(6), zeros);
    assign(n, n + 1.f);
    s.groups({y, d});
    BOOST_TEST(s.stored(d));
    BOOST_TEST(s.stored(y));
    BOOST_TEST(s.p.f.stored[base_of(s.g.n, s.g.assignments[0].value)]);
}
