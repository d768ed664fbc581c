// SPDX-License-Identifier: BSL-1.0
// expect: what derives from layer<...> names the scope of its parameters
#include <sinter/sinter.hpp>

using namespace sinter;

struct doubled : layer<doubled> {
    static constexpr tensor trace(tensor x) { return x + x; }
};
constexpr auto net = features<4> >> doubled{} >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
