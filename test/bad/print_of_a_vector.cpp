// SPDX-License-Identifier: BSL-1.0
// expect: print: needed is a pipeline of elements, or batches of them
// flags: -O0
#include <sinter/data/stages/print.hpp>

int main() { sinter::data::print(std::vector<int>(3)); }
