// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE recompute
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/tanh.hpp>

#include "compiler/fused_graph.hpp"

/// Which values their readers compute again instead of reading them. (That they come out the same:
/// random_graphs.cpp, and every net with a normalisation.)
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// A product y, its columns' sums m, and what is made of both: a walk of its own, as sums are there
/// only when a kernel ends.
struct normalised : fused_graph {
    tensor x = input(g, batch_of(4, 6)), y = product(x, "w"), m = over_columns(y);
    tensor product(tensor a, const char* name) { return ops::matmul(a, weights(x, name, extents(6, 6), zeros)); }
    static tensor over_columns(tensor a) { return sum(a, {batch_axis, 0}, keep::no); }
    void make_groups(std::initializer_list<tensor> outputs, bool fused = true) {
        need(outputs);
        grouping r = p.groups();
        fuse(p.view(), r, fused);
        p.f.groups = r.g.n;
        checked_groups();
    }
    /// d is read where its squares are summed, and once more behind that.
    bool stores(tensor d, tensor behind) {
        make_groups({behind * over_columns(d * d)});
        return stored(d);
    }
};

BOOST_AUTO_TEST_CASE(a_difference_from_column_sums) {
    normalised s;
    const tensor d = s.y - s.m;
    BOOST_TEST(!s.stores(d, d));
    BOOST_TEST(s.of(d) > s.of(s.y));
    BOOST_TEST(s.stored(s.y));
}
BOOST_AUTO_TEST_CASE(what_is_made_of_what_is_computed_again) {
    normalised s;
    const tensor d = s.y - s.m, e = d * 3.f;
    BOOST_TEST(!s.stores(e, e * (d + s.over_columns(e))));
    BOOST_TEST(!s.stored(d));
}
BOOST_AUTO_TEST_CASE(a_longer_function_is_stored) {
    normalised s;
    const tensor d = ops::exp(s.y - s.m);
    BOOST_TEST(s.stores(d, d));
}
BOOST_AUTO_TEST_CASE(what_a_product_reads_is_stored) {
    normalised s;
    const tensor d = s.y - s.m;
    BOOST_TEST(s.stores(d, s.product(d, "v")));
}
BOOST_AUTO_TEST_CASE(what_is_wanted_is_stored) {
    normalised s;
    const tensor d = s.y - s.m;
    s.make_groups({d * s.over_columns(d * d), d});
    BOOST_TEST(s.stored(d));
}
BOOST_AUTO_TEST_CASE(two_arrays_instead_of_one_only_where_one_is_read_anyway) {
    normalised apart, beside;
    const auto one = [](normalised& s) { return s.y - s.m; };
    const auto other = [](normalised& s) { return s.product(ops::tanh(s.x), "v"); };
    const tensor a = (one(apart) + apart.m) * other(apart);   // of y and the other product
    BOOST_TEST(apart.stores(a, a));
    const tensor p = other(beside), b = (one(beside) + beside.m) * p;
    BOOST_TEST(!beside.stores(b, b + p));
}
// cheap to read, and made for every element if made again
BOOST_AUTO_TEST_CASE(numbers_of_rows_and_channels_are_stored) {
    normalised s;
    const tensor twice = s.m * 2.f;
    s.make_groups({(s.y - twice) * s.over_columns(s.y * twice)});
    BOOST_TEST(s.stored(twice));
}
BOOST_AUTO_TEST_CASE(nothing_without_fusion) {
    normalised s;
    const tensor d = s.y - s.m;
    s.make_groups({d * s.over_columns(d * d)}, false);
    BOOST_TEST(s.stored(d));
}
