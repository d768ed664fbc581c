// SPDX-License-Identifier: BSL-1.0
// expect: group_by_window and bucket_by_sequence_length: needed is a function that takes an element of this pipeline and gives a whole number, its key or its length, and a size or size(key)
// flags: -O0
#include <sinter/data/stages/bucket_by_sequence_length.hpp>
#include <sinter/data/stages/source.hpp>

int main() {
    auto length = [](const std::string& s) { return s.size(); };
    auto all = sinter::data::range(9) | sinter::data::bucket_by_sequence_length(length, {3}, {2, 1});
    return static_cast<int>(all.size());
}
