// SPDX-License-Identifier: BSL-1.0
// shows numbers: counts beyond 2^31 and indices beyond 2^24 are right or refused when the net compiles
#define BOOST_TEST_MODULE many_iterations
#include <boost/test/unit_test.hpp>

#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>
#include <cmath>

// Loops of more iterations than 16 bits count: values and gradients as those of the same loop in double.
using namespace sinter;

namespace {
constexpr int steps = 70'000, examples = 2;

/// h = 0.9 w h + x_t, of which h^2 is put out: the first and the last of these, and the last h.
template <bool Reverse>
constexpr auto decay = array<steps, 1> >> [](tensor x) {
    const tensor w = parameter(x, "w", extents(1), ones);
    const scan_step r = ops::scan(
        [=](bundle h, bundle x_t) {
            const tensor next = h[0] * 0.9f * w + x_t[0];
            return scan_step{next, ops::square(next)};
        },
        ops::broadcast_to(ops::fill(x, extents(1), 0), batch_of(1)), x, {.reverse = Reverse});
    const auto at = [&](int t) { return ops::reshape(ops::slice(r.outputs[0], 0, t, 1), extents(1)); };
    return ops::concat({at(0), at(steps - 1), r.carry[0]});
};

template <bool Reverse>
void check() {
    trainer<std::remove_const_t<decltype(decay<Reverse>)>, mse_loss, sgd,
            build_options{examples, program_options{.store_gradients = true}}> t(sgd{}, {.threads = 1});
    std::vector<float> x;
    const std::vector<float> zeros(3 * examples);
    for (int i = 0; i < examples * steps; ++i) x.push_back(std::sin(static_cast<float>(i) * 0.37f) + 0.2f);
    const data::batch_view b{.x = x.data(), .y = zeros.data(), .size = examples};
    const span<const float> y = t.predict(b);
    const std::vector<float> seen(y.begin(), y.end());
    double by_w = 0;
    for (int e = 0; e < examples; ++e) {
        double h = 0, dh = 0, value[3] = {}, slope[3] = {};
        for (int k = 0; k < steps; ++k) {
            const int at = Reverse ? steps - 1 - k : k;
            dh = 0.9 * h + 0.9 * dh;
            h = 0.9 * h + static_cast<double>(x[static_cast<std::size_t>(e * steps + at)]);
            for (const int kept : {0, 1})
                if (at == (kept ? steps - 1 : 0)) value[kept] = h * h, slope[kept] = 2 * h * dh;
        }
        value[2] = h, slope[2] = dh;
        for (int k = 0; k < 3; ++k) {
            BOOST_TEST(std::abs(static_cast<double>(seen[static_cast<std::size_t>(3 * e + k)]) - value[k]) < 1e-4);
            by_w += 2 * value[k] * slope[k] / (3 * examples);
        }
    }
    t.step(b);
    BOOST_TEST(static_cast<double>(t.gradient(t.parameter(0))[0]) == by_w, boost::test_tools::tolerance(1e-4));
}
} // namespace

BOOST_AUTO_TEST_CASE(forwards) { check<false>(); }
BOOST_AUTO_TEST_CASE(backwards) { check<true>(); }
