// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::places_beyond_floats
// expect-gcc: in_op<printed<9>{"to_index"}>
// expect-clang: in_op<'t', 'o', '_', 'i', 'n', 'd', 'e', 'x'>
// expect-gcc: in_layer<printed<7>{"hashed"}>
// expect-clang: in_layer<'h', 'a', 's', 'h', 'e', 'd'>
// expect: got<4>
// expect: needed<16777216>
#include <sinter/sinter.hpp>

using namespace sinter;

// Rows of a table named by floats, of which those above 2^24 leave out every second integer.
constexpr auto net = features<4> >> named<"hashed">([](tensor x) { return ops::cast(x, 20'000'000); })
    >> embedding<20'000'000, 1> >> flatten >> dense<2>;

int main() { estimator model{net, mse, sgd{}}; }
