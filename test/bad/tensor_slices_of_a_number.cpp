// SPDX-License-Identifier: BSL-1.0
// expect: tensor_slices: needed are one std::vector or std::array or more
// flags: -O0
#include <sinter/data/stages/tensor_slices.hpp>

int main() {
    const auto stages = sinter::data::tensor_slices(std::vector<float>{1, 2}, 3);
    static_cast<void>(stages);
}
