// SPDX-License-Identifier: BSL-1.0
// expect: interleave: streams are dealt elements by their numbers; needed is an indexed pipeline, as
// flags: -O0
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/interleave_streams.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    using namespace sinter;
    const auto stages = data::range(10) | data::filter([](std::int64_t) { return true; }) |
                        data::interleave(data::streams(2), [](std::int64_t n) { return data::range(n); }, 8);
    static_cast<void>(stages);
}
