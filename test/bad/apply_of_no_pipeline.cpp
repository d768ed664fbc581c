// SPDX-License-Identifier: BSL-1.0
// expect: apply: needed is a function that takes a pipeline of these elements
// flags: -O0
#include <sinter/data/stages/apply.hpp>
#include <sinter/data/stages/source.hpp>

int main() { auto all = sinter::data::range(3) | sinter::data::apply([](int n) { return n; }); }
