// SPDX-License-Identifier: BSL-1.0
// expect: tensor_slices: needed is a struct with a field for each array, in their order and of the types of their slices
// flags: -O0
#include <sinter/data/stages/tensor_slices.hpp>

struct sample {
    float x;
};

int main() {
    const auto stages = sinter::data::tensor_slices<sample>(std::vector<float>{1, 2}, std::vector<int>{3, 4});
    static_cast<void>(stages);
}
