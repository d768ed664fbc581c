// SPDX-License-Identifier: BSL-1.0
// expect: one that derives from layer<...> by its static constexpr tensor trace(tensor)
#include <sinter/sinter.hpp>

using namespace sinter;

struct nothing : layer<nothing> {
    static constexpr const char* name = "nothing";
};
constexpr auto net = features<4> >> nothing{} >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
