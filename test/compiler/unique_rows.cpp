// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE unique_rows
#include <boost/test/unit_test.hpp>

#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/stop_gradient.hpp>

#include "compiler/passes.hpp"
#include "support/check_net.hpp"

/// Dense layers behind embedding columns that multiply each unique row once: against central differences in double,
/// and the same bits for any number of threads.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

template <int V, int E, int Numbers, int N, bool NumbersFirst = false>
struct net {
    constexpr tensor operator()(tensor numbers, tensor rows) const {
        const tensor looked_up = flatten(embedding<V, E>(rows));
        return dense<N>(NumbersFirst ? concat(numbers, looked_up) : concat(looked_up, numbers));
    }
    /// Parameters: table, weights, bias. Inputs: numbers, if there are, and rows.
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& x) {
        const doubles& rows = x.back();
        const int batch = rows.d[0], C = rows.d[1];
        doubles y({batch, N});
        for (int n = 0; n < batch; ++n)
            for (int j = 0; j < N; ++j) {
                double s = p[2][j];
                for (int c = 0; c < C; ++c)
                    for (int e = 0; e < E; ++e)
                        s += p[0][static_cast<int>(rows[n * C + c]) * E + e] *
                             p[1][((NumbersFirst ? Numbers : 0) + c * E + e) * N + j];
                for (int k = 0; k < Numbers; ++k)
                    s += x[0][n * Numbers + k] * p[1][((NumbersFirst ? 0 : C * E) + k) * N + j];
                y[n * N + j] = s;
            }
        return {y};
    }
};
constexpr auto columns_and_numbers = inputs(features<3>, indices<2>) >> net<7, 12, 3, 80>{};

BOOST_AUTO_TEST_CASE(columns_before_numbers) {   // most rows of seven are several columns' keys
    check_net<programs::all, 16>(columns_and_numbers, net<7, 12, 3, 80>::reference);
}
// rows are found by hashing, and the last panel of weights is not a whole one
BOOST_AUTO_TEST_CASE(numbers_before_columns) {
    using one = net<50, 5, 4, 24, true>;
    check_net<programs::fused_only, 16>(inputs(features<4>, indices<1>) >> one{}, one::reference);
}
BOOST_AUTO_TEST_CASE(tables_of_one_vector) {   // keys are multiplied in pairs of terms, in tiles of all heights
    using one = net<40, cpu::lanes, 3, 2 * cpu::panel_width>;
    check_net<programs::fused_only, 24>(inputs(features<3>, indices<3>) >> one{}, one::reference);
}

BOOST_AUTO_TEST_CASE(columns_that_share_a_large_table) {   // a row is found by hashing, and may be a key of each column
    using one = net<150, 4, 2, 16>;
    check_net<programs::fused_only, 24>(inputs(features<2>, indices<2>) >> one{}, one::reference);
}
// rows are updated behind their tiles, and weights' tiles copy gradients for each other
BOOST_AUTO_TEST_CASE(a_row_is_one_column_s) {
    using one = net<40, 3 * cpu::lanes, 3, 2 * cpu::panel_width>;
    check_net<programs::all, 24>(inputs(features<3>, indices<1>) >> one{}, one::reference, {}, 5);
}

/// Losses of four steps, the last of fewer examples, and the weights that they leave.
static std::vector<float> four_steps(int threads) {
    const auto p = make_run<decltype(columns_and_numbers), weigh_outputs, as_trained, 16>(threads);
    p->scalars[0] = 0.05f;
    std::vector<float> all;
    for (std::uint64_t step = 0; step < 4; ++step) {
        const int batch = step < 3 ? 16 : 9;
        const net_data d = part_of(*p, draw_for(*p, step), batch);
        p->run(batch, {d.inputs[0], d.inputs[1], d.targets[0]});
        all.push_back(p->loss);
    }
    for (const variable_info& v : p->parameters)
        for (float w : p->value(v)) all.push_back(w);
    return all;
}
BOOST_AUTO_TEST_CASE(the_same_bits_for_any_number_of_threads) {
    const auto one = four_steps(1);
    for (int threads : {2, 3}) {
        const auto more = four_steps(threads);
        BOOST_TEST((std::memcmp(one.data(), more.data(), 4 * one.size()) == 0), threads << " threads");
    }
}

/// Which nets the pass takes.
template <class F>
static int found(F net, int batch = 32, int columns = 3) {
    passes p;
    graph& g = p.g;
    shape s = batch_of(columns);
    s.type = dtype::i32;
    const tensor rows = input(g, s, 10);
    const tensor y = net(rows, parameter(rows, "table", extents(10, 4), zeros));
    g.loss = ops::sum(ops::sum(y * y, {-1}), {batch_axis}).id;
    p.differentiate_all();
    const int count = unique_rows(p.view(), {g.n.p, g.n.n}, 8, batch);
    int made = 0;
    for (const node& x : g.n.all())
        made += x.k == op::unique_rows || x.k == op::unique_product || x.k == op::unique_sums ||
            x.k == op::unique_weights || x.k == op::unique_table;
    BOOST_TEST(made == 5 * count);
    return count;
}
constexpr auto looked_up = [](tensor rows, tensor table) {
    return ops::reshape(gather_rows(table, rows), extents(rows.shape().size() * 4));
};

BOOST_AUTO_TEST_CASE(layers_that_are_found) {
    BOOST_TEST(found([](tensor r, tensor t) { return dense<8>(looked_up(r, t)); }) == 1);
    BOOST_TEST(found([](tensor r, tensor t) { return dense<8>(looked_up(r, t)); }, 8) == 0);     // few examples
    BOOST_TEST(found([](tensor r, tensor t) { return dense<7>(looked_up(r, t)); }) == 0);        // not whole vectors
    BOOST_TEST(found([](tensor r, tensor t) { return dense<8>(gather_rows(t, r)); }) == 0);      // every row by itself
}
BOOST_AUTO_TEST_CASE(rows_that_others_read_stay) {
    BOOST_TEST(found([](tensor r, tensor t) {
        const tensor x = looked_up(r, t);
        return concat(dense<8>(x), x);
    }) == 0);
    BOOST_TEST(found([](tensor r, tensor t) {
        const tensor x = looked_up(r, t);
        return concat(dense<8>(x), dense<16>(x));
    }) == 0);
}
BOOST_AUTO_TEST_CASE(numbers_with_a_gradient_stay) {
    BOOST_TEST(found([](tensor r, tensor t) {
        const tensor x = looked_up(r, t);
        return dense<8>(concat(looked_up(r, t), dense<4>(ops::stop_gradient(x))));
    }) == 0);
}
