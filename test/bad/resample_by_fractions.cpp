// SPDX-License-Identifier: BSL-1.0
// expect: rejection_resample: needed is a function that takes an element of this pipeline and gives a whole number, its class
// flags: -O0
#include <sinter/data/stages/rejection_resample.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    auto half = [](std::int64_t i) { return static_cast<double>(i) / 2; };
    return static_cast<int>((sinter::data::range(9) | sinter::data::rejection_resample(half, {1, 1})).size());
}
