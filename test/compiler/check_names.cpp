// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE check_names
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/compiler/passes/check_names.hpp>

#include <memory>
#include <string>

/// Paths of parameters and states, on scopes opened by hand. (Layers and what users write: trace.cpp.)
using namespace sinter;
using namespace sinter::compiler;

struct small {
    graph g;
    tensor any{&g, 0};
    small() { constant(&g, 0.f); }
    void variable(int scope, const char* name, bool trained = true) {
        g.scope = scope;
        if (trained) parameter(any, name, extents(3), zeros);
        else state(any, name, extents(3), zeros);
    }
    /// The path of the fault, or "fine".
    std::string verdict() {
        check_names(g);
        if (g.err.what == fault_kind::none) return "fine";
        BOOST_TEST((g.err.what == fault_kind::parameter_name_used_twice));
        return {g.err.path, static_cast<std::size_t>(g.err.path_length)};
    }
};

BOOST_AUTO_TEST_CASE(one_name_in_two_scopes) {
    small s;
    const int a = s.g.scopes.open("dense", 0), b = s.g.scopes.open("dense", 0), inner = s.g.scopes.open("dense", a);
    for (int scope : {0, a, b, inner}) s.variable(scope, "kernel"), s.variable(scope, "bias");
    BOOST_TEST(s.verdict() == "fine");
}
BOOST_AUTO_TEST_CASE(a_number_given_and_one_written) {
    small s;
    s.g.scopes.open("dense", 0);
    const int second = s.g.scopes.open("dense", 0), written = s.g.scopes.enter("dense_1", 0);
    s.variable(second, "kernel");
    s.variable(written, "bias");
    BOOST_TEST(s.verdict() == "fine");   // one path of two scopes, but nothing in both
    s.variable(written, "kernel");
    BOOST_TEST(s.verdict() == "dense_1");
}
BOOST_AUTO_TEST_CASE(a_state_and_a_parameter) {
    small s;
    s.g.scopes.open("norm", 0);
    s.variable(s.g.scopes.open("norm", 0), "mean");
    s.variable(s.g.scopes.enter("norm_1", 0), "mean", false);
    BOOST_TEST(s.verdict() == "norm_1");
}
BOOST_AUTO_TEST_CASE(a_slash_within_a_name) {   // "a/b" in the root, "b" in "a"
    small s;
    s.variable(0, "a/b");
    s.variable(s.g.scopes.enter("a", 0), "b");
    BOOST_TEST(s.verdict() == "a");
}
BOOST_AUTO_TEST_CASE(many_names) {   // enough that places in the table are taken by others
    auto s = std::make_unique<small>();
    for (int i = 0; i < 300; ++i) s->variable(s->g.scopes.open("dense", 0), i % 2 ? "bias" : "kernel");
    BOOST_TEST(s->verdict() == "fine");
    s->variable(s->g.scopes.enter("dense_298", 0), "kernel");
    BOOST_TEST(s->verdict() == "dense_298");
}
