// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::hashed_table_without_servers
// expect-gcc: in_layer<printed<17>{"hashed_embedding"}>
// expect-clang: in_layer<'h', 'a', 's', 'h', 'e', 'd', '_', 'e', 'm', 'b', 'e', 'd', 'd', 'i', 'n', 'g'>
// expect: got<3, 2>
#include <sinter/sinter.hpp>
#include <sinter/layers/hashed_embedding.hpp>

using namespace sinter;

// A table that grows has no place in one device's memory.
constexpr auto net = keys<3> >> hashed_embedding<8> >> flatten >> dense<2>;

int main() { estimator model{net, mse, sgd{}}; }
