// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <random>
#include <sinter/autodiff/gradient.hpp>

#include "compiler/evaluate.hpp"
#include "compiler/passes.hpp"

/// Gradients of gradients, in double precision: the first of each op against central differences of
/// its value, the second against those of the first.
namespace sinter::test {
using namespace base;
using namespace compiler;

struct second_order {
    std::unique_ptr<passes> p = std::make_unique<passes>();
    graph& g = p->g;
    surroundings o;
    std::mt19937 random{5};
    growing<int> of;   ///< the parameters that are differentiated by

    second_order() { o.batch = 2; }

    tensor par(shape s, double low = -1, double high = 1) {
        static const char* const names[] = {"a", "b", "c", "d"};
        const tensor t = parameter(in_graph(g), names[g.parameters.n], s, zeros);
        o.parameters.push_back(draw(s, low, high));
        of.push(t.id);
        return t;
    }
    tensor weights_of(int rows, int columns) {
        shape s = extents(rows, columns);
        s.form = layout::weights;
        return par(s);
    }
    tensor in(shape s, double low = -1, double high = 1) {
        o.ports.push_back(draw(s, low, high));
        return input(g, s);
    }
    tensor rows(shape s, int below) {
        s.type = dtype::i32;
        numbers x(static_cast<std::size_t>(count(s, o.batch)));
        for (double& e : x) e = static_cast<double>(random() % static_cast<unsigned>(below));
        o.ports.push_back(x);
        return input(g, s, below);
    }
    /// Other numbers for each example, which all depend on one parameter.
    template <class... D>
    tensor each(D... d) {
        const tensor own = par(extents(d...));
        return in(batch_of(d...), 0.5, 1.5) * own;
    }
    numbers draw(const shape& s, double low, double high) {
        numbers x(static_cast<std::size_t>(count(s, o.batch)));
        std::uniform_real_distribution<double> number(low, high);
        for (double& e : x) e = number(random);
        return x;
    }
    tensor weighed(tensor y) {   // every element its own share of the sum
        y = ops::plain(y);
        return sum_of_everything(y * in(y.shape()));
    }
    static tensor sum_of_everything(tensor y) { return sinter::detail::sum_of_all(ops::unpack(y)); }

    /// `linear`: expected is no second derivative at all.
    void check(tensor y, bool linear = false) {
        BOOST_REQUIRE(y.ok());
        const tensor value = weighed(y);
        bundle x;
        x.g = &g;
        for (int i = 0; i < of.n; ++i) x.t[x.n++] = {&g, of[i]};
        const bundle d = ops::gradient(value, x);
        BOOST_REQUIRE(g.err.what == fault_kind::none);
        tensor all = constant(&g, 0.f);
        for (int i = 0; i < d.n; ++i) all = all + weighed(ops::unpack(d[i]));
        BOOST_REQUIRE(all.ok());
        const int firsts = g.n.n;
        growing<int> second;
        differentiate(g, all.id, of, second);   // -1 where the op is linear in all operands
        BOOST_REQUIRE(g.err.what == fault_kind::none);
        const auto got = evaluate(g.n, o);
        bool none = true;
        for (int i = 0; i < of.n; ++i)
            for (std::size_t k = 0; k < o.parameters[i].size(); ++k) {
                compare(got[d[i].id][k], value.id, firsts, i, k, "first");
                none = none && second[i] < 0;
                compare(second[i] < 0 ? 0 : got[second[i]][k], all.id, firsts, i, k, "second");
            }
        BOOST_TEST(none == linear);
    }

private:
    void compare(double got, int node, int nodes, int parameter, std::size_t k, const char* what) {
        double& x = o.parameters[parameter][k];
        const double old = x, h = 1e-5;
        double side[2];
        for (int j = 0; j < 2; ++j) {
            x = old + (j ? h : -h);
            side[j] = evaluate(view<sinter::compiler::node>{g.n.p, nodes}, o)[node][0];
        }
        x = old;
        const double want = (side[1] - side[0]) / (2 * h);
        BOOST_TEST(std::abs(got - want) <= 1e-6 * (1 + std::abs(want)),
                   what << " derivative by " << parameter << '[' << k << "]: " << got << ", not " << want);
    }
};

} // namespace sinter::test
