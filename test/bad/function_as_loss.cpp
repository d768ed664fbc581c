// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::loss_holds_values
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr tensor squares(tensor y, tensor t) { return mean((y - t) * (y - t), {-1}); }
constexpr auto net = features<2> >> dense<1>;

int main() { estimator model{net, squares, sgd{}}; }
