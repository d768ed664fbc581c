// SPDX-License-Identifier: BSL-1.0
// expect: each field of a struct that is taken apart has a value by default: a reference
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct person { const int& rich; };
struct sample { std::array<float, 3> x; person who; };
const int rich = 1;
constexpr auto net = features<3> >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, sgd{}};
    auto train = data::from(8, [](std::int64_t) { return sample{{}, {rich}}; }) | data::batch(4);
    model.train(train);
}
