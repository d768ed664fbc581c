// SPDX-License-Identifier: BSL-1.0
// expect: a struct that is taken apart has no base classes
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct named { data::extra<std::string> name; };
struct person : named { int rich; };
struct sample { std::array<float, 3> x; person who; };
constexpr auto net = features<3> >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, sgd{}};
    auto train = data::rows(std::vector<sample>(8)) | data::batch(4);
    model.train(train);
}
