// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE embedding_bag_layer
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/embedding_bag.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

/// Columns of two tables, and a bag: all checked against their own table.
BOOST_AUTO_TEST_CASE(columns_and_bags) {
    constexpr auto net = inputs(indices<>, indices<>, indices<4>, array<4>)
        >> [](tensor a, tensor b, tensor c, tensor w) {
        return outputs(embedding_columns<2, 5, 3>(a, b), embedding_bag<6, 3, combine::mean, 0>(c),
                       embedding_bag<6, 3>(c, w));
    };
    constexpr auto columns_alone = inputs(indices<>, indices<>) >> embedding_columns<2, 5, 3>;
    const auto p =
        make_run<std::remove_const_t<decltype(columns_alone)>, weigh_outputs, as_fused, 2, program_mode::prediction>();
    BOOST_TEST(p->paths == (std::vector<std::string>{"column_0/table", "column_1/table"}));
    BOOST_TEST(p->below[0] == 5);
    BOOST_TEST(p->below[1] == 3);
    check_net<programs::fused_only, 2>(net, [](const auto& p, const auto& x) {
        const int n = x[0].d[0];
        doubles columns({n, 4}), mean({n, 3}), sum({n, 3});
        for (int b = 0; b < n; ++b) {
            for (int e = 0; e < 4; ++e) columns[b * 4 + e] = p[e / 2][static_cast<int>(x[e / 2][b]) * 2 + e % 2];
            for (int e = 0; e < 3; ++e) {
                double counted = 0;
                for (int k = b * 4; k < b * 4 + 4; ++k) {
                    const int row = static_cast<int>(x[2][k]);
                    mean[b * 3 + e] += row ? p[2][row * 3 + e] : 0;
                    counted += row != 0;
                    sum[b * 3 + e] += x[3][k] * p[3][row * 3 + e];
                }
                mean[b * 3 + e] /= counted ? counted : 1;
            }
        }
        return std::vector{columns, mean, sum};
    });
}
