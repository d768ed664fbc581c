// SPDX-License-Identifier: BSL-1.0
// expect: field_fault::is_missing
// expect-gcc: printed_text<2>{"x"}
// expect-clang: error_text<'x'>
// expect-gcc: Got = shown::nothing; Needed = shown::of<sinter::ordinary::dtype::f32, 3>]
// expect-clang: sinter::data::shown::nothing, sinter::data::shown::of<sinter::dtype::f32, 3>>
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct sample { std::array<float, 3> y; float cost; };
constexpr auto net = input<"x">(features<3>) >> dense<1>;

int main() {
    estimator model{net, mse, sgd{}};
    auto train = data::rows(std::vector<sample>(8)) | data::batch(4);
    model.train(train);
}
