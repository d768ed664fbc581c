// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE compose
#include <boost/test/unit_test.hpp>

#include <sinter/expr/compose.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/expr/input.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

doubles affine(const doubles& x, const doubles& w, const doubles& b) {
    const int k = w.d[0], n = w.d[1];
    doubles y({x.d[0], n});
    for (int i = 0; i < y.size(); ++i) {
        y[i] = b[i % n];
        for (int t = 0; t < k; ++t) y[i] += x[i / n * k + t] * w[t * n + i % n];
    }
    return y;
}
doubles rectified(const doubles& x) {
    return map(x, [](double v) { return std::max(v, 0.); });
}
doubles plus(const doubles& a, const doubles& b) {
    return map(a, b, [](double x, double y) { return x + y; });
}

BOOST_AUTO_TEST_CASE(residual) {
    constexpr auto block = [](tensor x) { return relu(x + dense<6>(relu(dense<9>(x)))); };
    check_net(features<6> >> block >> block, [](const auto& p, const auto& x) {
        doubles y = x[0];
        for (std::size_t i = 0; i < 8; i += 4)
            y = rectified(plus(y, affine(rectified(affine(y, p[i], p[i + 1])), p[i + 2], p[i + 3])));
        return std::vector{y};
    });
}
BOOST_AUTO_TEST_CASE(generic_lambdas) {   // whose bodies would not compile with a bundle
    constexpr auto twice = [](auto x) { return x + x; };
    constexpr auto sum = [](auto a, auto b) { return a + b; };
    check_net(inputs(features<3>, features<3>) >> sum >> twice >> dense<2>, [](const auto& p, const auto& x) {
        const doubles y = plus(x[0], x[1]);
        return std::vector{affine(plus(y, y), p[0], p[1])};
    });
}
BOOST_AUTO_TEST_CASE(several_inputs) {
    constexpr auto join = [](tensor a, tensor b) { return dense<5>(a) * dense<5>(b) + dense<5>(a); };
    check_net(inputs(features<3>, features<7>) >> join >> dense<2>, [](const auto& p, const auto& x) {
        const doubles a = affine(x[0], p[0], p[1]), b = affine(x[1], p[2], p[3]), c = affine(x[0], p[4], p[5]);
        return std::vector{affine(plus(map(a, b, [](double u, double v) { return u * v; }), c), p[6], p[7])};
    });
}
BOOST_AUTO_TEST_CASE(several_outputs) {   // one of them an activation that the other goes on with, one an input itself
    constexpr auto heads = [](tensor x) {
        const tensor h = relu(dense<6>(x));
        return outputs(dense<3>(h), h, x, dense<2>(h));
    };
    check_net(features<4> >> heads, [](const auto& p, const auto& x) {
        const doubles h = rectified(affine(x[0], p[0], p[1]));
        return std::vector{affine(h, p[2], p[3]), h, x[0], affine(h, p[4], p[5])};
    });
}
BOOST_AUTO_TEST_CASE(a_parameter_that_nothing_depends_on) {
    constexpr auto idle = [](tensor x) {
        parameter(x, "idle", extents(33), ones);
        return x * parameter(x, "scale", extents(4), ones);
    };
    check_net(features<4> >> idle, [](const auto& p, const auto& x) {
        return std::vector{map(x[0], p[1], [](double a, double b) { return a * b; })};
    });
}

/// Two tensors to two, as a lambda, a layer of one's own, a function of bundles; and a block of all three.
constexpr auto crossed = [](tensor a, tensor b) { return outputs(a * dense<3>(b), b + a); };
struct swapped_layer : layer<swapped_layer> {
    static constexpr const char* name = "swapped";
    static constexpr bundle trace(tensor a, tensor b) {
        return outputs(b, a * parameter(a, "scale", extents(3), ones));
    }
};
constexpr auto doubled_first = [](bundle x) { return outputs(2.f * x[0], x[1]); };
constexpr auto doubled_third = [](bundle x) { return outputs(x[0], x[1], 2.f * x[2]); };
constexpr auto three_steps = crossed >> swapped_layer{} >> doubled_first;

std::vector<doubles> three_steps_reference(const doubles& a, const doubles& b, const doubles* p) {
    auto times = [](double u, double v) { return u * v; };
    return {map(plus(a, b), [](double v) { return 2 * v; }), map(map(a, affine(b, p[0], p[1]), times), p[2], times)};
}
BOOST_AUTO_TEST_CASE(several_tensors_from_layer_to_layer) {
    check_net(inputs(features<3>, features<3>) >> three_steps, [](const auto& p, const auto& x) {
        return three_steps_reference(x[0], x[1], p.data());
    });
}
BOOST_AUTO_TEST_CASE(blocks_as_functions_of_several_tensors) {   // they give all that their last layer gives
    constexpr auto twice = [](tensor a, tensor b) {
        const bundle once = three_steps(a, b), again = three_steps(once);
        return outputs(again[0], again[1], once[1]);
    };
    check_net(inputs(features<3>, features<3>) >> twice, [](const auto& p, const auto& x) {
        const auto once = three_steps_reference(x[0], x[1], p.data()),
            again = three_steps_reference(once[0], once[1], p.data() + 3);
        return std::vector{again[0], again[1], once[1]};
    });
    static_assert(std::is_same_v<decltype((dense<3> >> relu)(tensor{})), tensor>);
    static_assert(std::is_same_v<decltype((dense<3> >> [](tensor x) { return outputs(x, x); })(tensor{})), bundle>);
    static_assert(!std::is_invocable_v<decltype(three_steps), tensor>);
}
BOOST_AUTO_TEST_CASE(six_inputs) {
    constexpr auto all = [](tensor a, tensor b, tensor c, tensor d, tensor e, tensor f) {
        return outputs(f - a, b * c, d * e);
    };
    check_net(inputs(features<2>, features<2>, features<2>, features<2>, features<2>, features<2>) >> all
              >> doubled_third, [](const auto&, const auto& x) {
        auto times = [](double u, double v) { return u * v; };
        return std::vector{map(x[5], x[0], [](double u, double v) { return u - v; }), map(x[1], x[2], times),
                           map(map(x[3], x[4], times), [](double v) { return 2 * v; })};
    });
}

// However layers are grouped, the type is the same flat sequence.
constexpr auto front = dense<3> >> relu;
constexpr auto back = dense<4> >> relu;
static_assert(std::is_same_v<decltype(features<2> >> (front >> back)),
                             decltype(features<2> >> dense<3> >> relu >> dense<4> >> relu)>);
