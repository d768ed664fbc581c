// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal_arrays
#include <boost/test/unit_test.hpp>
#include <sinter/ops.hpp>

#include "cuda/as_on_cpu.hpp"

// Kernels that move, sort, count and scan, and their gradients, as GPUs would run them.
using namespace sinter;
using test::as_on_cpu;
using test::examples;

static constexpr tensor flat(tensor x) { return ops::reshape(x, extents(-1)); }
static constexpr tensor scaled(tensor x) { return x * parameter(x, "scale", extents(4, 6, 2), ones); }

BOOST_AUTO_TEST_CASE(moves) {
    constexpr auto net = array<4, 6, 2> >> [](tensor in) {
        const tensor x = scaled(in);
        return ops::concat({flat(pad(x, {{1, 1}, {2, 1}}, pad_mode::reflect)),
                            flat(pad(x, {{1, 0}, {}, {2, 1}}, pad_mode::edge)),
                            flat(pad(x, {{0, 1}, {}, {1, 0}}, 0.5f)), flat(slice(x, {{.step = -1}, {1, 5, 2}})),
                            flat(roll(x, 2, 1)), flat(extract_patches(x, {2, 3}, {.stride = 2}))});
    } >> dense<7>;
    as_on_cpu<5>(net, mse, sgd{.learning_rate = 0.05f}, examples(5, 48, 0, 1, 7).view());
}
BOOST_AUTO_TEST_CASE(computed_places) {
    constexpr auto net = array<4, 6, 2> >> [](tensor in) {
        const tensor x = scaled(in);
        const tensor where = cast(ops::reshape(slice(in, 2, 0, 1), extents(12, 2)) * 3.f, 4);
        return ops::concat({flat(sort(x, 1)), flat(top_k(x, 2, 0).values), flat(take_along_axis(x, argsort(x, 0), 0)),
                            flat(gather(x, cast(slice(in, {{0, 1}, {0, 1}}) * 4.f, 6), 1)), flat(gather_nd(x, where)),
                            flat(scatter_add(x, argmin(x, 1, keep::yes), slice(x, 1, 0, 1), 1)),
                            flat(cast(cast(in * 3.f, dtype::i32), dtype::f32))});
    } >> dense<7>;
    as_on_cpu<5>(net, mse, sgd{.learning_rate = 0.05f}, examples(5, 48, 0, 1, 7).view());
}
BOOST_AUTO_TEST_CASE(scans_and_products) {
    constexpr auto net = array<4, 6, 2> >> [](tensor in) {
        const tensor x = scaled(in);
        return ops::concat({flat(cumsum(x, 1, {.reverse = true})), flat(cumprod(x, 0)),
                            flat(cumprod(x, 1, {.exclusive = true})), flat(prod(x, {0})),
                            flat(x + prod(x, {batch_axis, 1}, keep::yes)), flat(prod(x, {1, 2})),
                            flat(linear_scan(x, x * 0.5f, 1))});
    } >> dense<7>;
    as_on_cpu<5>(net, mse, sgd{.learning_rate = 0.01f}, examples(5, 48, 0, 1, 7).view());
}
BOOST_AUTO_TEST_CASE(places_between_and_moments) {
    constexpr auto net = array<4, 6, 2> >> [](tensor in) {
        const tensor x = scaled(in);
        return ops::concat({flat(interpolate(x, 0, 7)), flat(interpolate(x, 1, 4, ops::corners::aligned)),
                            flat(ops::group_norm(x, 1)), flat(ops::upsample_bilinear(x, 6, 9)),
                            flat(ops::instance_norm(x))});
    } >> dense<7>;
    as_on_cpu<5>(net, mse, sgd{.learning_rate = 0.05f}, examples(5, 48, 0, 1, 7).view());
}
