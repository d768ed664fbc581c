// SPDX-License-Identifier: BSL-1.0
// expect: concatenate: needed are pipelines whose elements are of the same type
// flags: -O0
#include <sinter/data/stages/concatenate.hpp>
#include <sinter/data/stages/source.hpp>

int main() { auto all = sinter::data::concatenate(sinter::data::range(3), sinter::data::rows(std::vector<float>(3))); }
