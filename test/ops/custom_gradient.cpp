// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE custom_gradient
#include <boost/test/unit_test.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/ops/custom_gradient.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/round.hpp>
#include <sinter/ops/sigmoid.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::test;

constexpr auto same = [](tensor x) { return x; };
constexpr auto rounded =
    ops::custom_gradient([](tensor x) { return ops::round(x); }, [](tensor d, tensor) { return d; });
constexpr auto turned = ops::custom_gradient(same, [](tensor d, tensor) { return -d; });
constexpr auto clipped =
    ops::custom_gradient(same, [](tensor d, tensor) { return ops::minimum(ops::maximum(d, -1.f), 1.f); });
constexpr auto tilted =
    ops::custom_gradient([](tensor x, tensor y) { return x * y; },
                         [](tensor d, tensor x, tensor y) { return outputs(d * y * 2.f, d * x * 3.f); });
constexpr auto filled =
    ops::custom_gradient(same, [](tensor d, tensor) { return constant(d.g, 7.f); });   // stretched to x's extents

struct several {   // all in one program; two of them have equal values
    static constexpr shape operands[] = {extents(4), extents(4)};
    static constexpr tensor apply(tensor a, tensor b) {
        return rounded(a) + turned(a) * 10.f + clipped(a * 3.f) * 4.f + checkpoint(tilted)(a, b) + filled(b) * 100.f;
    }
};
BOOST_AUTO_TEST_CASE(values_of_forward_gradients_of_backward) {
    const std::vector<double> a{0.25, 0.75, -1.5, 2}, b{1, 2, 3, -4};
    const op_result r = run_op<several>({doubles({4}, a), doubles({4}, b)});
    for (std::size_t i = 0; i < 4; ++i) {
        BOOST_TEST(r.y[i] ==
                   static_cast<float>(std::nearbyint(a[i]) + 10 * a[i] + 12 * a[i] + a[i] * b[i] + 100 * b[i]));
        BOOST_TEST(r.gradients[0][i] == static_cast<float>(1 - 10 + 1 * 3 + 2 * b[i]));
        BOOST_TEST(r.gradients[1][i] == static_cast<float>(3 * a[i] + 7));
    }
}

/// log(1 + e^x) whose own derivative would be infinity / infinity for large x; as a layer, and differentiated twice.
constexpr auto smooth = ops::custom_gradient([](tensor x) { return ops::log1p(ops::exp(x)); },
                                             [](tensor d, tensor x) { return d * ops::sigmoid(x); });
struct its_slope {
    static constexpr shape operands[] = {batch_of(5)};
    static constexpr tensor apply(tensor a) {
        const tensor z = a * 1.5f;
        return ops::gradient(smooth(z), z) + smooth(a);
    }
    static doubles reference(const doubles& a) {
        return map(a, [](double x) { return 1 / (1 + std::exp(-1.5 * x)) + std::log1p(std::exp(x)); });
    }
};
BOOST_AUTO_TEST_CASE(differentiated_again) { check_op<its_slope>(); }

template <class Layer>
constexpr fault_kind fault_of(Layer layer) {   // in the gradient's rule
    graph g;
    const tensor x = parameter(tensor{&g, 0}, "x", extents(2, 3), ones), y = layer(x);
    growing<int> of(1, x.id), d;
    differentiate(g, y.id, of, d);
    return g.err.what;
}
static_assert(fault_of(ops::custom_gradient(same, [](tensor d, tensor) { return ops::reshape(d, extents(6)); })) ==
              fault_kind::shapes_not_broadcastable);
static_assert(fault_of(ops::custom_gradient(same, [](tensor d, tensor) { return outputs(d, d); })) ==
              fault_kind::wrong_number_of_inputs);
static_assert(fault_of(turned) == fault_kind::none);
