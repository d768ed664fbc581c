// SPDX-License-Identifier: BSL-1.0
// expect: elastic(...): what members have gathered of a round of steps would be lost
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

using namespace sinter;

constexpr auto net = features<4> >> dense<3>;

int main() {
    estimator model{net, softmax_cross_entropy, accumulate<2>(sgd{}), elastic(multi_worker<ring>{})};
    return model.threads();
}
