// SPDX-License-Identifier: BSL-1.0
// expect: a struct that is taken apart has no constructors and no private members
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct sample {
    std::array<float, 3> x;
    int rich;
    sample() : x{}, rich(0) {}
};
constexpr auto net = features<3> >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, sgd{}};
    auto train = data::rows(std::vector<sample>(8)) | data::batch(4);
    model.train(train);
}
