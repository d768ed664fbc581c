// SPDX-License-Identifier: BSL-1.0
// expect: field_fault::is_missing
// expect: shown::field_at<1>
// expect-gcc: Got = shown::nothing; Needed = shown::of<sinter::ordinary::dtype::i32, 1>]
// expect-clang: sinter::data::shown::nothing, sinter::data::shown::of<sinter::dtype::i32, 1>>
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

using sample = std::array<float, 3>;
constexpr auto net = features<3> >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, sgd{}};
    auto train = data::rows(std::vector<sample>(8)) | data::batch(4);
    model.train(train);
}
