// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE table
#include <boost/test/unit_test.hpp>

#include <sinter/device/step_bytes.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/table.hpp>

#include <array>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

constexpr std::array<double, 6> six{1.5, -2, 3, 0.25, 5, -6};
constexpr float four[] = {2, 4, 8, 16};
void powers(float* to, const shape& s, float f) {
    for (int i = 0; i < s.size(); ++i) to[i] = static_cast<float>(std::pow(f, i));
}

constexpr auto with_tables = [](tensor x) {   // [2, 3]
    const tensor w = parameter(x, "w", extents(2, 3), ones);
    const tensor t = constants<six>(x, extents(2, 3)), p = table(x, extents(3, 4), powers, 0.5f),
                 c = constants<four>(x, extents(4));
    return outputs(x * w + t, matmul(x * t, p) * c);
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_net(array<2, 3> >> with_tables, [](const auto& p, const auto& x) {
        const int batch = x[0].d[0];
        const doubles t({2, 3}, std::vector<double>(six.begin(), six.end()));
        doubles y = map(map(x[0], p[0], [](double a, double b) { return a * b; }), t,
                        [](double a, double b) { return a + b; });
        doubles z({batch, 2, 4});
        for (int i = 0; i < z.size(); ++i)
            for (int k = 0; k < 3; ++k) {
                const int row = i / 4, j = i % 4;
                z[i] += x[0][row * 3 + k] * t[row % 2 * 3 + k] * std::pow(0.5, k * 4 + j) *
                    static_cast<double>(four[j]);
            }
        return std::vector{y, z};
    });
}
BOOST_AUTO_TEST_CASE(equal_tables_lie_once) {
    graph g;
    tensor of{&g, 0};
    const tensor a = constants<six>(of, extents(2, 3)), b = constants<six>(of, extents(2, 3)),
        c = constants<six>(of, extents(6));
    BOOST_TEST(a.id == b.id);
    BOOST_TEST(a.id != c.id);
    BOOST_TEST(table(of, extents(6), powers, 1.f).id != table(of, extents(6), powers, 2.f).id);
    BOOST_TEST(!constants<six>(of, extents(5)).ok());
    BOOST_TEST((g.err.what == fault_kind::sizes_differ));
}
