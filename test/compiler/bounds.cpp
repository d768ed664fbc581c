// SPDX-License-Identifier: BSL-1.0
// shows numbers: counts beyond 2^31 and indices beyond 2^24 are right or refused when the net compiles
#include <boost/test/unit_test.hpp>

#include <limits>
#include <sinter/sinter.hpp>
#include <sinter/train/predictor.hpp>

/// Numbers of elements beyond 2^31: right where they are counted over a batch, refused within one
/// tensor. (Refusals: test/bad/.)
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::runtime;

BOOST_AUTO_TEST_SUITE(bounds)

BOOST_AUTO_TEST_CASE(extents_whose_product_leaves_int) {
    static_assert(!extents(2147483647).is_too_large() && extents(65536, 32768).is_too_large());
    static_assert(!extents(46340, 46340).is_too_large() && extents(46341, 46341).is_too_large());
    static_assert(!extents().is_too_large() && extents(50'000'000, 64).is_too_large());
    constexpr int most = std::numeric_limits<int>::max();
    static_assert(extents(most, most, most, most, most).is_too_large());
}
/// In constant evaluation an int that overflows is an error: what these count is counted in 64 bits.
BOOST_AUTO_TEST_CASE(batches_whose_rows_leave_int) {
    constexpr auto net = image<256, 256, 1> >> relu >> global_avg_pool >> dense<1>;
    using model = trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 33000>;
    constexpr std::int64_t elements = std::int64_t{33000} * 256 * 256;
    static_assert(elements > std::numeric_limits<int>::max());
    // its copy of the input
    static_assert(predictor<std::remove_const_t<decltype(net)>, 33000>::bytes() > 4 * elements);
    static_assert(model::bytes() > 4 * elements && bound<floats_of_an_arena, model::bytes() / 4>::holds);
    BOOST_TEST((std::is_same_v<decltype(call::m), std::int64_t>));
}
/// Optimizers' walks over all parameters, of which there may be more than that, count elements as they lie.
BOOST_AUTO_TEST_CASE(parameters_that_leave_int_together) {
    constexpr auto net = indices<2> >> [](tensor i) {
        const auto row = [i](const char* name) {
            return ops::gather_rows(parameter(i, name, extents(20'000'000, 64), zeros), i);
        };
        return ops::sum(row("a") + row("b"), {0});
    };
    using model = trainer<std::remove_const_t<decltype(net)>, mse_loss, clip_by_global_norm<sgd>, 2>;
    static_assert(model::bytes() > std::int64_t{4} * 2 * 20'000'000 * 64);
    BOOST_TEST(model::training::v.z.trained > std::numeric_limits<int>::max());
}

BOOST_AUTO_TEST_SUITE_END()
