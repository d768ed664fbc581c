// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE embedding_bag
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/ops/embedding_bag.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr int V = 4, E = 3, N = 5;
doubles bag(const doubles& table, const doubles& indices, const doubles* weights, combine how, int padding = -1) {
    const int n = indices.size() / N;
    doubles y({n, E});
    for (int b = 0; b < n; ++b) {
        double all = 0, squares = 0;
        for (int k = b * N; k < b * N + N; ++k) {
            const int row = static_cast<int>(indices[k]);
            const double w = row == padding ? 0 : weights ? (*weights)[k] : 1;
            all += w;
            squares += w * w;
            for (int e = 0; e < E; ++e) y[b * E + e] += w * table[row * E + e];
        }
        const double by = how == combine::sum ? 1 : how == combine::mean ? all : std::sqrt(squares);
        for (int e = 0; e < E; ++e) y[b * E + e] /= by == 0 ? 1 : by;
    }
    return y;
}
BOOST_AUTO_TEST_CASE(values_and_gradients) {   // of so few rows, bags of padding alone among them
    constexpr auto net = inputs(indices<N>, array<N>) >> [](tensor i, tensor x) {
        const tensor t = parameter(i, "t", extents(V, E), ones),
            w = x * x + parameter(i, "w", extents(N), ones) * x + 2;
        return outputs(ops::embedding_bag(t, i), ops::embedding_bag(t, i, {.combine = combine::mean, .weights = w}),
                       ops::embedding_bag(t, i, {.combine = combine::sqrtn, .weights = w, .padding = 0}),
                       ops::embedding_bag(t, i, {.combine = combine::mean, .padding = 1}),
                       ops::embedding_bag(t, i, {.combine = combine::sqrtn}));
    };
    const auto outputs_of = [](const auto& p, const auto& x) {
        doubles w = x[1];
        for (int k = 0; k < w.size(); ++k) w[k] = w[k] * w[k] + p[1][k % N] * w[k] + 2;
        return std::vector{bag(p[0], x[0], nullptr, combine::sum), bag(p[0], x[0], &w, combine::mean),
                           bag(p[0], x[0], &w, combine::sqrtn, 0), bag(p[0], x[0], nullptr, combine::mean, 1),
                           bag(p[0], x[0], nullptr, combine::sqrtn)};
    };
    check_all(programs_of<std::remove_const_t<decltype(net)>, weigh_outputs, 5, programs::fused_only>(),
              [](const program_run& p) {
                  net_data d = draw_for(p);
                  for (int k = 0; k < N; ++k) d.inputs[0][k] = 1, d.inputs[0][N + k] = 0;   // nothing but padding
                  return d;
              },
              {outputs_of, weigh_outputs::reference}, {.gradient = 1e-4});
}
