// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE embedding
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/permute.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/train/trainer.hpp>
#include <sinter/train/losses/mse.hpp>

#include "fixtures/pytorch_ops.hpp"
#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

namespace golden = fixture::pytorch;

BOOST_AUTO_TEST_CASE(rows_of_the_table) {
    check_net(indices<4> >> embedding<6, 3>, [](const auto& p, const auto& x) {
        doubles y({x[0].d[0], 4, 3});
        for (int i = 0; i < y.size(); ++i) y[i] = p[0][static_cast<int>(x[0][i / 3]) * 3 + i % 3];
        return std::vector{y};
    });
}
BOOST_AUTO_TEST_CASE(as_pytorch) {
    constexpr int n = sizeof(golden::embedding_indices) / sizeof(int);
    const auto p = make_run<decltype(indices<n> >> embedding<6, 3>), weigh_outputs, as_trained, 1>();
    BOOST_TEST(p->paths[0] == "embedding/table");
    p->set(p->parameters[0],
           doubles({6, 3}, std::vector<double>(golden::embedding_table, golden::embedding_table + 18)));
    const doubles i({1, n}, std::vector<double>(golden::embedding_indices, golden::embedding_indices + n));
    p->run(1, {i, doubles({1, n, 3}, std::vector<double>(golden::embedding_dy, golden::embedding_dy + 3 * n))});
    check_close(p->output(0, 1),
                doubles({3 * n}, std::vector<double>(golden::embedding_y, golden::embedding_y + 3 * n)), 1e-6, "rows");
    check_close(p->gradient(0),
                doubles({18}, std::vector<double>(golden::embedding_dtable, golden::embedding_dtable + 18)), 1e-6,
                "gradient");
}
// A table of more rows than floats have integers: indices are int32 all the way, forward and in the update.
BOOST_AUTO_TEST_CASE(rows_above_2_to_the_24th) {
    constexpr int first = 1 << 24, rows = first + 4;
    static trainer<decltype(indices<2> >> embedding<rows, 1> >> flatten), std::remove_const_t<decltype(mse)>, sgd,
                   2> t(sgd{.learning_rate = 1.f});
    std::vector<float> table = t.plain(t.parameter(0));
    for (int i = -2; i < 4; ++i) table[static_cast<std::size_t>(first + i)] = static_cast<float>(10 + i);
    t.set_plain(t.parameter(0), table.data());
    const std::int32_t i[] = {first + 1, first - 1, first + 3, first + 1};
    const float y[] = {0, 9, 13, 0};   // with mse's gradient 2 x / 4, 1 of row `first + 1` goes twice half of 11: to 0
    const data::input_view input{nullptr, i, 2};
    data::batch_view b{};
    b.y = y;
    b.size = 2;
    b.inputs = {&input, 1};
    const span<const float> seen = t.predict(b);
    for (int k = 0; k < 4; ++k) BOOST_TEST(seen[static_cast<std::size_t>(k)] == static_cast<float>(10 + i[k] - first));
    t.step(b);
    const std::vector<float> updated = t.plain(t.parameter(0));
    for (int k = -2; k < 4; ++k)
        BOOST_TEST(updated[static_cast<std::size_t>(first + k)] == (k == 1 ? 0.f : static_cast<float>(10 + k)));
    BOOST_TEST(updated[0] == table[0]);
}
template <class Net>
void refuses_an_index_beyond_the_table(Net) {   // of six rows
    trainer<Net, weigh_outputs, sgd, 4> t;
    std::int32_t i[] = {0, 5, 500'000, 1};
    const float y[12] = {};
    const data::input_view input{nullptr, i, 2};
    data::batch_view b{};
    b.y = y;
    b.size = 2;
    b.inputs = {&input, 1};
    BOOST_CHECK_THROW(t.predict(b), data_error);
    i[2] = 6;
    BOOST_CHECK_THROW(t.predict(b), data_error);
    b.size = 1;
    BOOST_CHECK_NO_THROW(t.predict(b));
}
BOOST_AUTO_TEST_CASE(an_index_beyond_the_table) { refuses_an_index_beyond_the_table(indices<2> >> embedding<6, 3>); }
BOOST_AUTO_TEST_CASE(an_index_beyond_the_table_behind_a_view) {
    refuses_an_index_beyond_the_table(indices<2, 1> >> reshape<2> >> flatten >> embedding<6, 3>);
}
BOOST_AUTO_TEST_CASE(an_index_beyond_the_table_without_a_layer) {
    refuses_an_index_beyond_the_table(
        indices<2> >> [](tensor x) { return gather_rows(parameter(x, "t", extents(6, 3), ones), x); });
}

/// Numbers that are moved about are still the input's.
constexpr auto moved = [](tensor x) { return concat(slice(ops::transpose(x), 1, 1, 1), ops::transpose(x)); };
constexpr auto both_ways = [](tensor x) { return outputs(embedding<6, 3>(x), embedding<5, 2>(x), embedding<9, 1>(x)); };

BOOST_AUTO_TEST_CASE(moved_indices) {   // [3, 2] -> [2, 3] -> its second column, then all
    check_net(indices<3, 2> >> moved >> embedding<6, 2>, [](const auto& p, const auto& x) {
        doubles y({x[0].d[0], 2, 4, 2});
        for (int i = 0; i < y.size(); ++i) {
            const int n = i / 16, row = i / 8 % 2, column = i / 2 % 4;
            y[i] = p[0][static_cast<int>(x[0][n * 6 + (column ? column - 1 : 1) * 2 + row]) * 2 + i % 2];
        }
        return std::vector{y};
    });
}
BOOST_AUTO_TEST_CASE(the_smallest_table_counts) {
    const auto p = make_run<decltype(indices<4> >> both_ways), weigh_outputs, as_fused>();
    BOOST_TEST(p->below[0] == 5);
    const auto m = make_run<decltype(inputs(indices<2>, indices<3>) >> [](tensor a, tensor b) {
        return embedding<7, 2>(concat(b, a));
    }), weigh_outputs, as_fused>();
    BOOST_TEST(m->below[0] == 7);
    BOOST_TEST(m->below[1] == 7);
}
