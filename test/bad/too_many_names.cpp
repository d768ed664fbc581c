// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::program_too_large
// expect: got<1537>
// expect: needed<1536>
#include <array>
#include <sinter/sinter.hpp>

using namespace sinter;
using namespace sinter::compiler;

// A loop that names each of its steps.
constexpr auto names = [] {
    std::array<std::array<char, 3>, 1600> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = {static_cast<char>('A' + i / 40), static_cast<char>('A' + i % 40), 0};
    return all;
}();
constexpr auto net = features<4> >> [](tensor x) {
    tensor y = x;
    for (const auto& name : names) {
        const scoped step(x.g, name.data());
        y = relu(y) + x;
    }
    return y;
} >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
