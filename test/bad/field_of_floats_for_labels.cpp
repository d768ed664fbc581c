// SPDX-License-Identifier: BSL-1.0
// expect: field_fault::has_other_numbers
// expect-gcc: printed_text<5>{"rich"}
// expect-clang: error_text<'r', 'i', 'c', 'h'>
// expect-gcc: Got = shown::of<sinter::ordinary::dtype::f32, 1>; Needed = shown::of<sinter::ordinary::dtype::i32, 1>]
// expect-clang: sinter::data::shown::of<sinter::dtype::f32, 1>, sinter::data::shown::of<sinter::dtype::i32, 1>>
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct sample { std::array<float, 3> x; float rich; };
constexpr auto net = features<3> >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, sgd{}};
    auto train = data::rows(std::vector<sample>(8)) | data::batch(4);
    model.train(train);
}
