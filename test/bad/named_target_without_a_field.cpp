// SPDX-License-Identifier: BSL-1.0
// expect: field_fault::is_missing
// expect-gcc: printed_text<6>{"price"}
// expect-clang: error_text<'p', 'r', 'i', 'c', 'e'>
// expect-gcc: Got = shown::nothing; Needed = shown::of<sinter::ordinary::dtype::f32, 1>]
// expect-clang: sinter::data::shown::nothing, sinter::data::shown::of<sinter::dtype::f32, 1>>
#include <sinter/sinter.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/source.hpp>

using namespace sinter;

struct sample { std::array<float, 3> x; float cost; };
constexpr auto net = features<3> >> dense<1>;

int main() {
    estimator model{net, expects<"price">(mse), sgd{}};
    auto train = data::rows(std::vector<sample>(8)) | data::batch(4);
    model.train(train);
}
