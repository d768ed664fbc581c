// SPDX-License-Identifier: BSL-1.0
// expect: flat_map: needed is a function that takes an element of this pipeline and gives a std::vector or a std::array
// flags: -O0
#include <sinter/data/stages/flat_map.hpp>
#include <sinter/data/stages/source.hpp>

int main() { auto all = sinter::data::range(3) | sinter::data::flat_map([](std::int64_t e) { return e; }); }
