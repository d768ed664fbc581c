// SPDX-License-Identifier: BSL-1.0
// expect: map: the function takes no element of this pipeline; needed is f(const element&)
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct passenger { float age; bool rich; };
struct sample { std::array<float, 3> x; int rich; };
constexpr auto net = features<3> >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, sgd{}};
    auto train = data::rows(std::vector<passenger>(8)) | data::map([](passenger& p) { p.age /= 90; }) | data::batch(4);
    model.train(train);
}
