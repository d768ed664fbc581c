// SPDX-License-Identifier: BSL-1.0
// expect: unbatch: needed are elements that are a std::vector or a std::array
// flags: -O0
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/unbatch.hpp>

int main() { auto all = sinter::data::range(3) | sinter::data::unbatch(); }
