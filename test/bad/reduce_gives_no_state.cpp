// SPDX-License-Identifier: BSL-1.0
// expect: reduce: needed is a function of the state and an element of this pipeline that gives the next state
// flags: -O0
#include <sinter/data/stages/reduce.hpp>
#include <sinter/data/stages/source.hpp>
#include <string>

int main() { return sinter::data::reduce(sinter::data::range(3), 0, [](int, std::int64_t) { return std::string(); }); }
