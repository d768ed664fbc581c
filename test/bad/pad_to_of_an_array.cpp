// SPDX-License-Identifier: BSL-1.0
// expect: pad_to: needed are elements that are std::vector, or a function that takes an element of this pipeline and gives one, and a value of its type
// flags: -O0
#include <sinter/data/stages/pad_to.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    std::vector<std::array<float, 3>> all(3);
    return static_cast<int>((sinter::data::rows(all) | sinter::data::pad_to<8>()).size());
}
