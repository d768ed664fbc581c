// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::lookup_is_computed
// expect-gcc: in_op<printed<12>{"gather_rows"}>
// expect-clang: in_op<'g', 'a', 't', 'h', 'e', 'r', '_', 'r', 'o', 'w', 's'>
// expect-gcc: in_layer<printed<6>{"words"}>
// expect-clang: in_layer<'w', 'o', 'r', 'd', 's'>
// expect: got<2>
// expect: needed<100, 3>
#include <sinter/sinter.hpp>
#include <sinter/strategy/table_calls.hpp>

using namespace sinter;

/// As a strategy with servers asks for programs.
struct elsewhere {
    using device = cpu_device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .updates_here = false,
                                            .remote_tables = true};
    template <class Programs, class Optimizer>
    struct session : single_session<Programs> {
        session(elsewhere, int threads) : single_session<Programs>(cpu_device::options{threads}) {}
    };
};
// Which rows a batch names must be known before the net runs: a slice of an input is made within it.
constexpr auto net = indices<4> >> [](tensor x) { return ops::slice(x, 0, 1, 2); } >> named<"words">(embedding<100, 3>)
    >> flatten >> dense<2>;

int main() { trainer model{net, mse, sgd{}, elsewhere{}}; }
