// SPDX-License-Identifier: BSL-1.0
// expect: sample_from and choose_from: needed are pipelines whose elements have the same type
// flags: -O0
#include <sinter/data/stages/mixture.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    std::vector<float> floats{1, 2};
    auto all = sinter::data::sample_from({1, 1}, sinter::data::range(9), sinter::data::rows(floats));
    return static_cast<int>(all.size());
}
