// SPDX-License-Identifier: BSL-1.0
// expect: interleave: needed is a function that takes an element of this pipeline and gives a pipeline
// flags: -O0
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    const auto stages = sinter::data::range(10) | sinter::data::interleave([](std::int64_t n) { return n; });
    static_cast<void>(stages);
}
