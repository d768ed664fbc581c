// SPDX-License-Identifier: BSL-1.0
// expect: pack: needed are elements that are std::vector<std::int32_t>, or a function that takes an element of this pipeline and gives one
// flags: -O0
#include <sinter/data/stages/pack.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    std::vector<std::vector<float>> all(3);
    return static_cast<int>((sinter::data::rows(all) | sinter::data::pack<8>()).size());
}
