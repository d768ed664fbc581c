// SPDX-License-Identifier: BSL-1.0
// expect: ragged_batch: needed are elements that are a std::vector, or a struct or a tuple with one
// flags: -O0
#include <sinter/data/stages/ragged_batch.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    std::vector<std::array<float, 3>> all(3);
    auto batches = sinter::data::rows(all) | sinter::data::ragged_batch(2);
}
