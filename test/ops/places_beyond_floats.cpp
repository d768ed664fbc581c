// SPDX-License-Identifier: BSL-1.0
// shows numbers: counts beyond 2^31 and indices beyond 2^24 are right or refused when the net compiles
// Floats have all integers up to 2^24 and every second one beyond. Where ops name places by floats, longer axes are
// refused when compiled; where an int32 is the place, it stays one.
#define BOOST_TEST_MODULE places_beyond_floats
#include <boost/test/unit_test.hpp>

#include <sinter/ops.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

static constexpr int most = 1 << 24;

static shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
// f(x, n) is sound for `longest` places and refused for one more.
template <class F>
static void up_to(int longest, const shape& s, F f) {
    BOOST_TEST(refuses(s, fault_kind::none, [&](tensor x) { return f(x, longest); }));
    BOOST_TEST(refuses(s, fault_kind::places_beyond_floats, [&](tensor x) { return f(x, longest + 1); }));
}
BOOST_AUTO_TEST_CASE(numbers_of_columns) {
    up_to(most, whole(batch_of()), [](tensor x, int n) { return one_hot(x, n); });
    up_to(most, batch_of(2), [](tensor x, int n) { return ops::range(x, n); });
    up_to(most, batch_of(2), [](tensor x, int n) { return ops::range(x, n, 1, 2); });
    up_to(most, extents(1), [](tensor x, int n) { return ops::random_categorical(ops::broadcast_to(x, extents(n))); });
    up_to(most / 2, extents(1, 1), [](tensor x, int n) { return ops::tril(ops::broadcast_to(x, extents(2, n))); });
    up_to(most / 2, extents(1, 1), [](tensor x, int n) { return ops::triu(ops::broadcast_to(x, extents(n, 2))); });
}
BOOST_AUTO_TEST_CASE(computed_places) {
    up_to(most, batch_of(3), [](tensor x, int n) { return to_index(x, n); });
    up_to(most, batch_of(3), [](tensor x, int n) { return cast(x, n); });
    up_to(most, whole(batch_of(3)), [](tensor x, int n) { return cast(x, n); });
    up_to(most, extents(1), [](tensor x, int n) { return cast(argmax(ops::broadcast_to(x, extents(n))), dtype::f32); });
    up_to(most, extents(1), [](tensor x, int n) {   // also where the numbers have been moved
        return ops::to_float(ops::reshape(argmax(ops::broadcast_to(x, extents(2, n))), extents(2, 1)));
    });
    up_to(most, extents(1), [](tensor x, int n) {
        return ops::embedding_bag(ops::broadcast_to(ops::reshape(x, extents(1, 1)), extents(n, 1)),
                                  make<op::input>(x.g, whole(batch_of(3)), {}, {1}), {.padding = 0});
    });
}
BOOST_AUTO_TEST_CASE(integers_stay_exact) {   // places that are int32 all the way
    const auto sound = [](const shape& s, auto f) { BOOST_TEST(refuses(s, fault_kind::none, f)); };
    sound(extents(1), [](tensor x) { return argmax(ops::broadcast_to(x, extents(most + 8))); });
    sound(extents(1), [](tensor x) {
        const tensor i = make<op::input>(x.g, whole(batch_of(3)), {}, {1});
        return gather_rows(ops::broadcast_to(ops::reshape(x, extents(1, 1)), extents(most + 8, 1)), i);
    });
}
