// SPDX-License-Identifier: BSL-1.0
// expect: take_while: needed is a function that takes an element of this pipeline and gives a bool
// flags: -O0
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take_while.hpp>
#include <string>

int main() {
    auto some = sinter::data::range(3) | sinter::data::take_while([](std::int64_t) { return std::string("yes"); });
}
