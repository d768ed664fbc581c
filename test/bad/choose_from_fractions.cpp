// SPDX-License-Identifier: BSL-1.0
// expect: choose_from: needed are choices that are whole numbers
// flags: -O0
#include <sinter/data/stages/mixture.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    std::vector<float> choices{0, 1};
    auto all = sinter::data::choose_from(sinter::data::rows(choices), sinter::data::range(9), sinter::data::range(5));
    return static_cast<int>(all.size());
}
