// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE softmax
#include <boost/test/unit_test.hpp>

#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/logsumexp.hpp>
#include <sinter/ops/softmax.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

doubles softmax_reference(const doubles& a) {
    doubles y = a;
    const int n = a.d.back();
    for (int r = 0; r < a.size(); r += n) {
        double largest = -INFINITY, all = 0;
        for (int i = r; i < r + n; ++i) largest = std::max(largest, a[i]);
        for (int i = r; i < r + n; ++i) all += y[i] = std::exp(a[i] - largest);
        for (int i = r; i < r + n; ++i) y[i] /= all;
    }
    return y;
}
template <shape A>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::softmax(a); }
    static doubles reference(const doubles& a) { return softmax_reference(a); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<drawn_batch(0, 2)>>();
    check_op<op_of<batch_of(1)>, programs::fused_only>();
    check_op<op_of<drawn(1, 3)>, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(huge_logits) {
    const op_result r = run_op<op_of<extents(2, 3)>>({doubles({2, 3}, {3e38, 3e38, -3e38, 500, 400, 500})});
    check_close(r.y, doubles({6}, {0.5, 0.5, 0, 0.5, 0, 0.5}), 1e-6, "value");
    check_close(r.gradients[0], doubles({6}), 1e-6, "gradient");
}

/// Products are rounded before the maximum is subtracted, as they were when it was found, whatever the compiler fuses.
template <int K>
struct of_products {
    static constexpr shape operands[] = {extents(4, 37)};
    static constexpr tensor apply(tensor a) {
        a = a * 0.3f;
        return K == 0 ? ops::softmax(a) : K == 1 ? ops::log_softmax(a) : ops::logsumexp(a, {-1});
    }
};
BOOST_AUTO_TEST_CASE(products_of_any_size) {
    for (float size : {1.f, 1e5f, 1e9f, 1e12f, 1e30f}) {
        doubles x({4, 37}), scaled = x;
        for (int i = 0; i < x.size(); ++i) {
            const float e = size * (1.1f + 1e-7f * static_cast<float>(i * 7 % 9));
            x[i] = static_cast<double>(e), scaled[i] = static_cast<double>(e * 0.3f);
        }
        const auto p = run_op<of_products<0>>({x}).y, log_p = run_op<of_products<1>>({x}).y,
            all = run_op<of_products<2>>({x}).y;
        for (int r = 0; r < 4; ++r) {
            double most = -INFINITY, sum = 0;
            for (int j = 0; j < 37; ++j) most = std::max(most, scaled[37 * r + j]);
            for (int j = 0; j < 37; ++j) sum += std::exp(scaled[37 * r + j] - most);
            const double whole = most + std::log(sum);
            BOOST_TEST(std::abs(static_cast<double>(all[static_cast<std::size_t>(r)]) - whole) <=
                       3e-7 * std::abs(whole));
            for (int j = 0; j < 37; ++j) {
                const auto i = static_cast<std::size_t>(37 * r + j);
                const double z = scaled[37 * r + j] - most, want = std::exp(z) / sum;
                // denormal ones may be 0
                BOOST_TEST(std::abs(static_cast<double>(p[i]) - want) <= 1e-6 * want + 2e-38);
                BOOST_TEST(std::abs(static_cast<double>(log_p[i]) - (z - std::log(sum))) <=
                           5e-7 * std::max(1., std::abs(z)));
            }
        }
    }
}
