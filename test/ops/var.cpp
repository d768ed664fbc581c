// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE var
#include <boost/test/unit_test.hpp>

#include <sinter/ops/group_norm.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/var.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

using axes = std::initializer_list<int>;

template <int Ddof>
struct variance {
    static constexpr tensor apply(tensor a, axes x, keep k) { return var(a, x, Ddof, k); }
    static double value(const std::vector<double>& v) {
        double m = 0, s = 0;
        for (double x : v) m += x / static_cast<double>(v.size());
        for (double x : v) s += (x - m) * (x - m);
        return s / (static_cast<double>(v.size()) - Ddof);
    }
};
BOOST_AUTO_TEST_CASE(any_axes) {
    check_op<reduced<variance<0>, keep::no, batch_of(3, 5), -1>>();
    check_op<reduced<variance<1>, keep::yes, batch_of(3, 2, 4), 0, 2>, programs::fused_only>();
    check_op<reduced<variance<0>, keep::no, batch_of(3, 2), 0, batch_axis>, programs::fused_only>();
}
template <int Ddof>
struct rows {
    static constexpr shape operands[] = {extents(4, 4)};
    static constexpr tensor apply(tensor a) { return var(a, {1}, Ddof); }
};
struct single {
    static constexpr shape operands[] = {extents(2, 1)};
    static constexpr tensor apply(tensor a) { return var(a, {1}, 1); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_has_them) {
    const doubles x = recorded({4, 4}, fixture::arrays::spread_x);
    check_recorded(run_op<rows<0>>({x}).y, fixture::arrays::var0);
    check_recorded(run_op<rows<1>>({x}).y, fixture::arrays::var1);
    for (float v : run_op<single>({doubles({2, 1}, 3.)}).y) BOOST_TEST(std::isnan(v));   // 0 / 0
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::batch_axis_refused, [](tensor x) { return var(x, {batch_axis}, 1); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return var(x, {0}, 5); }));
}

/// Of very many equal numbers, whose sum one after the other would lose three digits.
constexpr int very_many = 1 << 18;
struct long_mean {
    static constexpr shape operands[] = {extents(very_many, 3)};
    static constexpr tensor apply(tensor a) { return ops::mean(a, {0}); }
};
struct long_variance : long_mean {
    static constexpr tensor apply(tensor a) { return var(a, {0}); }
};
struct long_norm : long_mean {
    static constexpr tensor apply(tensor a) { return ops::slice(ops::instance_norm(a), 0, 0, 2); }
};
BOOST_AUTO_TEST_CASE(of_very_many_numbers) {
    for (const double v : {0.1, 1.3}) {
        doubles same({very_many, 3}, v), apart({very_many, 3}, v);
        for (int i = 0; i < apart.size(); i += 6)
            for (int k = i; k < i + 3; ++k) apart[k] = -v;
        const auto y = [](const op_result& r) { return static_cast<double>(r.y[0]); };
        BOOST_TEST(y(run_op<long_mean>({same})) == v, boost::test_tools::tolerance(3e-5));
        BOOST_TEST(y(run_op<long_variance>({apart})) == v * v, boost::test_tools::tolerance(3e-5));
        BOOST_TEST(y(run_op<long_norm>({apart})) == -v / std::sqrt(v * v + 1e-5), boost::test_tools::tolerance(3e-5));
    }
}
