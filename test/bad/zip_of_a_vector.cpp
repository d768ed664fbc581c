// SPDX-License-Identifier: BSL-1.0
// expect: zip: needed are pipelines of elements, as they are before batch()
// flags: -O0
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/zip.hpp>

int main() { auto pairs = sinter::data::zip(sinter::data::range(3), std::vector<float>(3)); }
