// SPDX-License-Identifier: BSL-1.0
// expect: interleave: needed is a function that takes an element of this pipeline and gives a pipeline of elements
// flags: -O0
#include <sinter/data/stages/interleave_streams.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    using namespace sinter;
    const auto stages =
        data::range(10) | data::interleave(data::streams(2), [](std::int64_t n) { return n; }, 8);
    static_cast<void>(stages);
}
