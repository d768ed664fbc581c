// SPDX-License-Identifier: BSL-1.0
// expect: shuffle_blocks() needs a source in which each element can be found by its number
// flags: -O0
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/shuffle_blocks.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    const auto odd = [](std::int64_t i) { return i % 2 == 1; };
    auto all = sinter::data::range(9) | sinter::data::filter(odd) | sinter::data::shuffle_blocks(2, 2);
}
