// SPDX-License-Identifier: BSL-1.0
// expect: scan: needed is a function of the state and an element of this pipeline that gives a std::pair of the next state and an element
// flags: -O0
#include <sinter/data/stages/scan.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    auto sums = sinter::data::range(3) | sinter::data::scan(0, [](int sum, std::int64_t e) { return sum + int(e); });
}
