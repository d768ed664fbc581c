// SPDX-License-Identifier: BSL-1.0
// expect: field_fault::has_other_extents
// expect-gcc: printed_text<2>{"x"}
// expect-clang: error_text<'x'>
// expect-gcc: Got = shown::of<sinter::ordinary::dtype::f32, 4>; Needed = shown::of<sinter::ordinary::dtype::f32, 3>]
// expect-clang: sinter::data::shown::of<sinter::dtype::f32, 4>, sinter::data::shown::of<sinter::dtype::f32, 3>>
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct sample { std::array<float, 4> x; int rich; };
constexpr auto net = features<3> >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, sgd{}};
    auto train = data::rows(std::vector<sample>(8)) | data::batch(4);
    model.train(train);
}
