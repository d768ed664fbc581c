// SPDX-License-Identifier: BSL-1.0
// expect: group_by_window and bucket_by_sequence_length: needed is a function that takes an element of this pipeline and gives a whole number, its key or its length, and a size or size(key)
// flags: -O0
#include <sinter/data/stages/group_by_window.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    auto half = [](std::int64_t i) { return static_cast<double>(i) / 2; };
    return static_cast<int>((sinter::data::range(9) | sinter::data::group_by_window(half, 3)).size());
}
