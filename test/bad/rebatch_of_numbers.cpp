// SPDX-License-Identifier: BSL-1.0
// expect: rebatch: needed are elements that are a std::vector or a std::array
// flags: -O0
#include <sinter/data/stages/rebatch.hpp>
#include <sinter/data/stages/source.hpp>

int main() { auto all = sinter::data::range(3) | sinter::data::rebatch(2); }
