// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE gradient
#include <boost/test/unit_test.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/scan.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/tanh.hpp>

#include "support/check_op.hpp"

/// Gradients within compiled nets. That each op's second derivative is right: test/compiler/second_derivatives.cpp.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct of_a_value_between {   // d sum(y) / d z of y = tanh(z)^2, where z = a b is no input
    static constexpr shape operands[] = {batch_of(3, 5), extents(5)};
    static constexpr tensor apply(tensor a, tensor b) {
        const tensor z = a * b, y = ops::tanh(z);
        return ops::gradient(y * y, z);
    }
    static doubles reference(const doubles& a, const doubles& b) {
        return map(a, b, [](double x, double w) {
            const double t = std::tanh(x * w);
            return 2 * t * (1 - t * t);
        });
    }
};
BOOST_AUTO_TEST_CASE(of_a_value_within_the_net) { check_op<of_a_value_between>(); }

/// The penalty of a critic (two layers) on an example: (|d score / d x| - 1)^2.
struct penalised {
    static constexpr int F = 3, H = 4;
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(F), {}, {0});
        g.inputs.push(x.id);
        const tensor w = weights(x, "w", extents(F, H), ones), b = parameter(x, "b", extents(H), ones),
                     v = weights(x, "v", extents(H, 1), ones);
        const tensor score = matmul(ops::tanh(matmul(x, w) + b), v), d = ops::gradient(score, x);
        const tensor off = ops::sqrt(sum(d * d, {-1})) - 1.f;
        return outputs(score, off * off);
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles &w = p[0], &b = p[1], &v = p[2], &x = in[0];
        const int B = x.d[0];
        doubles score({B, 1}), penalty({B});
        for (int e = 0; e < B; ++e) {
            double d[F] = {}, square = 0;
            for (int h = 0; h < H; ++h) {
                double z = b[h];
                for (int i = 0; i < F; ++i) z += x.at({e, i}) * w.at({i, h});
                score[e] += std::tanh(z) * v[h];
                for (int i = 0; i < F; ++i) d[i] += (1 - std::tanh(z) * std::tanh(z)) * v[h] * w.at({i, h});
            }
            for (const double k : d) square += k * k;
            penalty[e] = (std::sqrt(square) - 1) * (std::sqrt(square) - 1);
        }
        return {score, penalty};
    }
};
BOOST_AUTO_TEST_CASE(gradient_penalty) { check_net<programs::fused_only>(penalised{}, penalised::reference); }

/// By the image of a convolution, a bias, a max-pool and relu, which training would put in another
/// order were it not for the winners that this gradient reads. The reference takes differences of
/// the values.
struct through_a_pool {
    static constexpr shape operands[] = {batch_of(4, 4, 1), extents(3, 3, 1, 2), extents(2)};
    static constexpr tensor value(tensor x, tensor w, tensor b) {
        const tensor y = max_pool<2>(ops::conv2d(x, w) + b);
        return ops::tanh(y);
    }
    static constexpr tensor apply(tensor x, tensor w, tensor b) { return ops::gradient(value(x, w, b), x); }
    static double sum_of_values(const doubles& x, int image, const doubles& w, const doubles& b) {
        double sum = 0;
        for (int r = 0; r < 4; r += 2)
            for (int c = 0; c < 4; c += 2)
                for (int f = 0; f < 2; ++f) {
                    double best = -1e9;
                    for (int k = 0; k < 4; ++k) {
                        double z = b[f];
                        for (int i = 0; i < 9; ++i) {
                            const int p = r + k / 2 + i / 3 - 1, q = c + k % 2 + i % 3 - 1;
                            if (p >= 0 && q >= 0 && p < 4 && q < 4)
                                z += x.at({image, p, q, 0}) * w.at({i / 3, i % 3, 0, f});
                        }
                        best = std::max(best, z);
                    }
                    sum += std::tanh(best);
                }
        return sum;
    }
    static doubles reference(const doubles& x, const doubles& w, const doubles& b) {
        doubles d = x, moved = x;
        for (int i = 0; i < x.size(); ++i) {
            const int image = i / 16;
            double side[2];
            for (int k = 0; k < 2; ++k) {
                moved[i] = x[i] + (k ? 1e-4 : -1e-4);
                side[k] = sum_of_values(moved, image, w, b);
            }
            moved[i] = x[i];
            d[i] = (side[1] - side[0]) / 2e-4;
        }
        return d;
    }
};
BOOST_AUTO_TEST_CASE(by_an_image) {
    check_op<through_a_pool, programs::fused_only, 2>({.value = 1e-5, .gradient = 1e-4, .step = 1e-3});
}

/// In each iteration of a loop, of that iteration's energy: a descent whose path is trained through.
struct descent {
    static constexpr int T = 3;
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(T, 2), {}, {0});
        g.inputs.push(x.id);
        const tensor w = parameter(x, "w", extents(2), ones);
        const scan_step r = scan(
            [=](bundle at, bundle pull) {
                const tensor energy = ops::tanh(at[0] * w) * pull[0] + at[0] * at[0];
                const tensor next = at[0] - ops::gradient(energy, at[0]) * 0.25f;
                return scan_step{next, {}};
            },
            x.ok() ? ops::reshape(ops::slice(x, 0, 0, 1), extents(2)) : x, x);
        return r.carry[0];
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles& x = in[0];
        doubles y({x.d[0], 2});
        for (int i = 0; i < y.size(); ++i) {
            double at = x.at({i / 2, 0, i % 2});
            const double w = p[0][i % 2];
            for (int t = 0; t < T; ++t) {
                const double h = std::tanh(at * w);
                at -= 0.25 * ((1 - h * h) * w * x.at({i / 2, t, i % 2}) + 2 * at);
            }
            y[i] = at;
        }
        return {y};
    }
};
BOOST_AUTO_TEST_CASE(within_an_iteration_of_a_loop) { check_net<programs::fused_only>(descent{}, descent::reference); }
